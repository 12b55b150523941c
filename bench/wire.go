package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/postgres/protocol"
)

// A wire stands between a program and Postgres and counts what the program
// sends, by the messages of Postgres' protocol. Preparing a statement and the
// pings of a connection pool do not count: they depend on the connection that
// a call happens to get.
type wire struct {
	url        string // of the database, by way of the wire
	statements atomic.Int64
	trips      atomic.Int64 // messages after which the program waits for answers
	learning   atomic.Bool

	listener net.Listener
	database net.Addr
	mu       sync.Mutex
	open     []net.Conn
	idle     map[string]bool // texts of statements of the background
	own      asked           // without those
}

// learn takes what is asked from now on, until the returned function is
// called, for the program's background.
func (w *wire) learn() (enough func()) {
	w.learning.Store(true)
	return func() { w.learning.Store(false) }
}

// openWire listens on this machine for connections to the database.
func openWire(ctx context.Context, database string) (*wire, error) {
	config, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	w := &wire{idle: map[string]bool{}, own: asked{}}
	if c.Host[0] == '/' {
		w.database = &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("%s/.s.PGSQL.%d", c.Host, c.Port)}
	} else if w.database, err = net.ResolveTCPAddr("tcp", fmt.Sprintf("%s:%d", c.Host, c.Port)); err != nil {
		return nil, err
	}
	if w.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(c.User, c.Password), Host: w.listener.Addr().String(), Path: "/" + c.Database,
		RawQuery: "sslmode=disable",
	}
	w.url = u.String()
	go w.accept(ctx)
	return w, nil
}

func (w *wire) accept(ctx context.Context) {
	for {
		program, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(ctx, w.database.Network(), w.database.String())
		if err != nil {
			_ = program.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, program, server)
		w.mu.Unlock()
		go func() {
			_ = w.forward(program, server)
			_, _ = program.Close(), server.Close()
		}()
		go func() {
			_, _ = io.Copy(program, server)
			_, _ = program.Close(), server.Close()
		}()
	}
}

func (w *wire) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
}

// ping is what the pool sends to a connection that was idle.
const ping = "-- ping"

// forward passes on what the program sends, and counts it.
func (w *wire) forward(program io.Reader, server io.Writer) error {
	t := transaction{w: w}
	for questions := protocol.NewQuestions(program); ; {
		q, err := questions.Next()
		if err != nil {
			return err
		}
		if executed := len(q.Statements); executed > 0 && q.Statements[0] != ping {
			w.statements.Add(int64(executed))
			w.trips.Add(1)
			t.ask(q.Statements)
		}
		if _, err := server.Write(q.Sent); err != nil {
			return err
		}
	}
}

// A transaction is one connection's, as far as the background is told apart: the
// statements around a transaction belong to the background if all in it do.
type transaction struct {
	w     *wire
	begun string // how it was begun, if nothing of the program's own was asked since
	own   bool   // the last question was
}

func (t *transaction) ask(statements []string) {
	switch first, _, _ := strings.Cut(statements[0], " "); strings.ToLower(first) {
	case "begin":
		t.begun, t.own = statements[0], false
		return
	case "commit", "rollback":
		t.begun = ""
	default:
		t.own = slices.ContainsFunc(statements, t.w.isOwn)
	}
	if t.own && t.begun != "" {
		t.w.count(t.begun)
		t.begun = ""
	}
	if t.own {
		t.w.count(statements...)
	}
}

// sealer are statements of the sealer of the log: it works by the clock, however
// many events there are by then.
var sealer = regexp.MustCompile(`\blog_(tiles|origins)\b`)

// isOwn tells whether a statement is none of the background's.
func (w *wire) isOwn(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.learning.Load() || sealer.MatchString(text) {
		w.idle[text] = true
	}
	return !w.idle[text]
}

func (w *wire) count(statements ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for n, text := range statements {
		q := w.own[text]
		q.statements++
		if n == 0 {
			q.trips++
		}
		w.own[text] = q
	}
}

// soFar is what was asked until now without the background.
func (w *wire) soFar() asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.own)
}
