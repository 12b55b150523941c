package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"
)

// A wire stands between a program and Postgres and counts what the program
// sends, by the messages of Postgres' protocol. Preparing a statement and the
// pings of a connection pool do not count: they depend on the connection that
// a call happens to get.
type wire struct {
	url        string // of the database, by way of the wire
	statements atomic.Int64
	trips      atomic.Int64 // messages after which the program waits for answers

	listener net.Listener
	database net.Addr
	mu       sync.Mutex
	open     []net.Conn
}

// openWire listens on this machine for connections to the database.
func openWire(ctx context.Context, database string) (*wire, error) {
	config, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	c := config.ConnConfig
	w := &wire{}
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
var ping = []byte("-- ping")

// forward passes on what the program sends, and counts it. Messages have a
// type, a length and a body; the first one has no type.
func (w *wire) forward(program io.Reader, server io.Writer) error {
	in, out := bufio.NewReader(program), bufio.NewWriter(server)
	if err := pass(in, out, 0); err != nil {
		return err
	}
	executed := int64(0) // since the last trip
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		head, err := in.Peek(5)
		if err != nil {
			return errors.Join(err, out.Flush())
		}
		switch head[0] {
		case 'Q': // a statement by itself
			text, err := in.Peek(min(5+len(ping), 1+int(binary.BigEndian.Uint32(head[1:]))))
			if err != nil || !bytes.HasSuffix(text, ping) {
				w.statements.Add(1)
				w.trips.Add(1)
			}
		case 'E':
			executed++
		case 'S': // waits for the answers to all before
			w.statements.Add(executed)
			w.trips.Add(min(executed, 1))
			executed = 0
		}
		if err := pass(in, out, 1); err != nil {
			return err
		}
	}
}

// pass copies one message whose length stands behind so many bytes.
func pass(in *bufio.Reader, out io.Writer, before int) error {
	head, err := in.Peek(before + 4)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, int64(before)+int64(binary.BigEndian.Uint32(head[before:])))
	return err
}
