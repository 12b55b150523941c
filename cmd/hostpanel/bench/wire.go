package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
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
const ping = "-- ping"

// forward passes on what the program sends, and counts it.
func (w *wire) forward(program io.Reader, server io.Writer) error {
	for questions := protocol.NewQuestions(program); ; {
		q, err := questions.Next()
		if err != nil {
			return err
		}
		if executed := len(q.Statements); executed > 0 && q.Statements[0] != ping {
			w.statements.Add(int64(executed))
			w.trips.Add(1)
		}
		if _, err := server.Write(q.Sent); err != nil {
			return err
		}
	}
}
