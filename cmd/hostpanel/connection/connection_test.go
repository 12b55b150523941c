package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/eventstoretest"
)

// A recovering server refuses connections as Postgres does while it starts up,
// so often as left says, and then lets them through to the real one.
type recovering struct {
	listener net.Listener
	to       *url.URL
	left     atomic.Int64
}

func recoverFor(t *testing.T, real string, refusals int64) (_ *recovering, through string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	u, err := url.Parse(real)
	if err != nil {
		t.Fatal(err)
	}
	r := &recovering{listener: l, to: u}
	r.left.Store(refusals)
	go r.serve()
	at := *u
	at.Host = l.Addr().String()
	q := at.Query()
	q.Del("host")
	q.Del("port")
	at.RawQuery = q.Encode()
	return r, at.String()
}

func (r *recovering) serve() {
	for {
		c, err := r.listener.Accept()
		if err != nil {
			return
		}
		go r.answer(c)
	}
}

func (r *recovering) answer(c net.Conn) {
	defer func() { _ = c.Close() }()
	if r.left.Add(-1) >= 0 {
		backend := pgproto3.NewBackend(c, c)
		_, _ = backend.ReceiveStartupMessage()
		backend.Send(&pgproto3.ErrorResponse{
			Severity: "FATAL", Code: startingUp,
			Message: "the database system is starting up",
		})
		_ = backend.Flush()
		return
	}
	network, address := "tcp", r.to.Host
	if folder := r.to.Query().Get("host"); folder != "" {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%s", folder, r.to.Query().Get("port"))
	}
	real, err := net.Dial(network, address)
	if err != nil {
		return
	}
	defer func() { _ = real.Close() }()
	go func() { _, _ = io.Copy(real, c) }()
	_, _ = io.Copy(c, real)
}

func TestAStartDoesNotWaitForEver(t *testing.T) {
	const refusals = 1 << 40
	r, through := recoverFor(t, eventstoretest.URL(t), refusals)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // the wait ends once an answer was heard: the second attempt comes after it
		for ctx.Err() == nil && r.left.Load() > refusals-2 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if err := Await(ctx, through, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "starting up") {
		t.Errorf("%v", err)
	}
}

// Each failure to connect says what to do, names no password, and ends with
// the exit code of wrong configuration only if trying again is of no use.
func TestAFailureToConnectSaysWhatToDo(t *testing.T) {
	real, err := url.Parse(eventstoretest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := free.Addr().String()
	_ = free.Close()
	change := func(do func(*url.URL)) string {
		u := *real
		do(&u)
		return u.String()
	}
	for _, c := range []struct {
		url, says string
		code      int
	}{
		{change(func(u *url.URL) { u.User = url.UserPassword("hostpanel", "canary") }), "refuses the user", console.Usage},
		{change(func(u *url.URL) { u.Path = "/nothing_here" }), "no database nothing_here", console.Usage},
		{"postgres://me:canary@" + closed + "/x", "does not answer", console.Failed},
		{"postgres://me:canary@nowhere.invalid/x", "does not answer|has no address", console.Failed},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		err := Await(ctx, c.url, slog.New(slog.DiscardHandler))
		cancel()
		said := false
		for says := range strings.SplitSeq(c.says, "|") {
			said = said || err != nil && strings.Contains(err.Error(), says)
		}
		if !said || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v, want %q", err, c.says)
		}
		if code := (console.Console{Out: io.Discard, Err: io.Discard}).Complain(err); code != c.code {
			t.Errorf("%v ends with %d", err, code)
		}
	}
	full := orMend(&pgconn.PgError{Code: tooMany}, real.String())
	if full == nil || errors.As(full, new(*pgconn.PgError)) || !strings.Contains(full.Error(), "max_connections") {
		t.Errorf("%v", full)
	}
}
