package eventstoretest

import (
	"bytes"
	"context"
	"maps"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/adapters/postgres/protocol"
)

// A Cutter stands between a process and Postgres, and cuts connections on demand: at
// once, in place of a question, or in place of the answer to one. What such a question
// asks for is committed by then. It may also delay each question, as a distance does.
type Cutter struct {
	mark             []byte
	network, address string // of the server
	url              string
	delay            time.Duration

	asked sync.Mutex
	cuts  []cut
	seen  map[string]int
	count int // of all questions

	mu    sync.Mutex
	links map[net.Conn]bool
}

// A cut is what is still to be cut.
type cut struct {
	due    func(protocol.Question) bool
	answer bool
}

// NewCutter puts a cutter before a server that does not encrypt.
func NewCutter(t testing.TB, server, mark string) *Cutter {
	t.Helper()
	c, end, err := cutterBefore(server, mark, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return c
}

// cutterBefore is a cutter that lives until its end.
func cutterBefore(server, mark string, delay time.Duration) (c *Cutter, end func(), err error) {
	config, err := pgconn.ParseConfig(server)
	if err != nil {
		return nil, nil, err
	}
	address, err := url.Parse(server)
	if err != nil {
		return nil, nil, err
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	address.Host, address.RawQuery = listener.Addr().String(), "sslmode=disable"
	c = &Cutter{mark: []byte(mark), url: address.String(), delay: delay, seen: map[string]int{}, links: map[net.Conn]bool{}}
	c.network, c.address = pgconn.NetworkAddress(config.Host, config.Port)
	go c.accept(listener)
	return c, func() { _ = listener.Close(); c.Cut() }, nil
}

// URL leads clients through the cutter.
func (c *Cutter) URL() string { return c.url }

// CutQuestion cuts the connection in place of the next question with the mark.
func (c *Cutter) CutQuestion() { c.plan(cut{due: c.marked}) }

// CutAnswer cuts the connection in place of the answer to the next such question.
func (c *Cutter) CutAnswer() { c.plan(cut{due: c.marked, answer: true}) }

// CutStatement cuts the connection in place of the next question that executes a
// statement, or of its answer.
func (c *Cutter) CutStatement(text string, answer bool) {
	c.plan(cut{func(q protocol.Question) bool { return slices.Contains(q.Statements, text) }, answer})
}

// CutNth cuts the connection in place of the nth question from now on, counted from 1, or
// of its answer.
func (c *Cutter) CutNth(n int, answer bool) {
	at := c.Asked() + n
	c.plan(cut{func(protocol.Question) bool { return c.count >= at }, answer})
}

// Asked is how many questions there were.
func (c *Cutter) Asked() int {
	c.asked.Lock()
	defer c.asked.Unlock()
	return c.count
}

// Pending tells whether something is still to be cut.
func (c *Cutter) Pending() bool {
	c.asked.Lock()
	defer c.asked.Unlock()
	return len(c.cuts) > 0
}

// Withdraw cuts nothing of what is pending.
func (c *Cutter) Withdraw() {
	c.asked.Lock()
	defer c.asked.Unlock()
	c.cuts = nil
}

// Seen are the statements that were executed, by their text, and how often.
func (c *Cutter) Seen() map[string]int {
	c.asked.Lock()
	defer c.asked.Unlock()
	return maps.Clone(c.seen)
}

func (c *Cutter) marked(q protocol.Question) bool { return bytes.Contains(q.Sent, c.mark) }

func (c *Cutter) plan(next cut) {
	c.asked.Lock()
	defer c.asked.Unlock()
	c.cuts = append(c.cuts, next)
}

// take takes the first cut that a question is due for.
func (c *Cutter) take(q protocol.Question) (taken cut, is bool) {
	c.asked.Lock()
	defer c.asked.Unlock()
	c.count++
	for _, text := range q.Statements {
		c.seen[text]++
	}
	at := slices.IndexFunc(c.cuts, func(planned cut) bool { return planned.due(q) })
	if at < 0 {
		return cut{}, false
	}
	taken = c.cuts[at]
	c.cuts = slices.Delete(c.cuts, at, at+1)
	return taken, true
}

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
	var unanswered atomic.Bool // the last question stays so
	go c.ask(client, server, &unanswered)
	c.answer(server, client, &unanswered)
}

func (c *Cutter) keep(ends ...net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, end := range ends {
		c.links[end] = true
	}
}

// ask hands on questions, until one end is closed or one is to be cut. Questions that
// are sent without waiting for answers are delayed at the same time.
func (c *Cutter) ask(client, server net.Conn, unanswered *atomic.Bool) {
	defer c.close(client, server)
	over := make(chan struct{})
	defer close(over)
	for q := range c.arriving(client, over) {
		time.Sleep(time.Until(q.due))
		taken, is := c.take(q.Question)
		if is && !taken.answer {
			return
		}
		unanswered.Store(is)
		if _, err := server.Write(q.Sent); err != nil {
			return
		}
	}
}

// An arrival is a question, and when the server gets it.
type arrival struct {
	protocol.Question
	due time.Time
}

// mostArrivals is how many questions of a connection are on their way.
const mostArrivals = 1000

// arriving are the questions of a client, until it is gone or all is over.
func (c *Cutter) arriving(client net.Conn, over <-chan struct{}) <-chan arrival {
	all := make(chan arrival, mostArrivals)
	go func() {
		defer close(all)
		for questions := protocol.NewQuestions(client); ; {
			q, err := questions.Next()
			if err != nil {
				return
			}
			select {
			case all <- arrival{q, time.Now().Add(c.delay)}:
			case <-over:
				return
			}
		}
	}()
	return all
}

// answer hands on answers likewise.
func (c *Cutter) answer(server, client net.Conn, unanswered *atomic.Bool) {
	defer c.close(client, server)
	for buffer := make([]byte, 1<<16); ; {
		n, err := server.Read(buffer)
		if err != nil || unanswered.Load() {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
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
