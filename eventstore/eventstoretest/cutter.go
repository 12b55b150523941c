package eventstoretest

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// A Cutter stands between a process and Postgres, and cuts connections on demand: at
// once, in place of the next question with a mark in it, or in place of the answer to one.
// What such a question asks for is committed by then.
type Cutter struct {
	mark             []byte
	network, address string // of the server
	url              string

	question, answer atomic.Int32 // that are still to be cut

	mu    sync.Mutex
	links map[net.Conn]bool
}

// NewCutter puts a cutter before a server that does not encrypt.
func NewCutter(t testing.TB, server, mark string) *Cutter {
	t.Helper()
	config, err := pgconn.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	address.Host, address.RawQuery = listener.Addr().String(), "sslmode=disable"
	c := &Cutter{mark: []byte(mark), url: address.String(), links: map[net.Conn]bool{}}
	c.network, c.address = pgconn.NetworkAddress(config.Host, config.Port)
	t.Cleanup(func() { _ = listener.Close(); c.Cut() })
	go c.accept(listener)
	return c
}

// URL leads clients through the cutter.
func (c *Cutter) URL() string { return c.url }

// CutQuestion cuts the connection in place of the next question with the mark.
func (c *Cutter) CutQuestion() { c.question.Add(1) }

// CutAnswer cuts the connection in place of the next answer to such a question.
func (c *Cutter) CutAnswer() { c.answer.Add(1) }

func (c *Cutter) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		go c.link(client)
	}
}

func (c *Cutter) link(client net.Conn) {
	server, err := new(net.Dialer).DialContext(context.Background(), c.network, c.address)
	if err != nil {
		_ = client.Close()
		return
	}
	c.keep(client, server)
	var marked atomic.Bool // the last question
	go c.pass(client, server, func(question []byte) bool {
		marked.Store(bytes.Contains(question, c.mark))
		return marked.Load() && taken(&c.question)
	})
	c.pass(server, client, func([]byte) bool { return marked.Load() && taken(&c.answer) })
}

func (c *Cutter) keep(ends ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range ends {
		c.links[end] = true
	}
}

// pass hands on what comes, until one end is closed or this is to be cut.
func (c *Cutter) pass(from, to net.Conn, due func(said []byte) bool) {
	defer c.close(from, to)
	for buffer := make([]byte, 1<<16); ; {
		n, err := from.Read(buffer)
		if err != nil || due(buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// taken takes one of what is due.
func taken(due *atomic.Int32) bool {
	for {
		n := due.Load()
		if n == 0 {
			return false
		}
		if due.CompareAndSwap(n, n-1) {
			return true
		}
	}
}

func (c *Cutter) close(ends ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range ends {
		delete(c.links, end)
		_ = end.Close()
	}
}

// Cut cuts all connections at once.
func (c *Cutter) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := range c.links {
		_ = end.Close()
	}
}
