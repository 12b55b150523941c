package eventstoretest

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A link is the connection of one client. Its first message tells which session it gets.
type link struct {
	database *database
	connect  func() (net.Conn, error)

	mu       sync.Mutex
	session  *session
	deadline time.Time
	left     bool // the client has said that it goes
	closed   bool
	begun    chan struct{} // closed once there is a session, or never will be one

	reading sync.Mutex
	unread  []byte // of the greeting
}

// dial gives a client a link.
func (d *database) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return &link{database: d, begun: make(chan struct{}), connect: func() (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}}, nil
}

var goodbye, _ = (&pgproto3.Terminate{}).Encode(nil)

func (l *link) Write(sent []byte) (int, error) {
	s := l.of()
	switch {
	case s == nil:
		return len(sent), l.begin(sent)
	case bytes.Equal(sent, goodbye):
		l.mu.Lock()
		defer l.mu.Unlock()
		l.left = true
		return len(sent), nil
	}
	_, err := s.Write(s.preparesLess(sent))
	return len(sent), err
}

// begin takes a session that an earlier client has left, or a new one.
func (l *link) begin(sent []byte) error {
	began := signIn(sent)
	if s := l.database.take(began); s != nil {
		return l.set(s, s.greeting.said)
	}
	conn, err := l.connect()
	if err != nil {
		return err
	}
	if err := l.set(&session{Conn: conn, began: began}, nil); err != nil {
		return err
	}
	_, err = conn.Write(sent)
	return err
}

// signIn tells what a client asks for when it signs in, and nothing of what else may be
// the first message: it encrypts or cancels.
func signIn(sent []byte) string {
	if len(sent) < 8 || binary.BigEndian.Uint32(sent[4:]) != pgproto3.ProtocolVersion30 {
		return ""
	}
	var pairs []string
	parts := strings.Split(string(sent[8:]), "\x00")
	for pair := range slices.Chunk(parts, 2) {
		pairs = append(pairs, strings.Join(pair, "="))
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "\n")
}

func (l *link) Read(into []byte) (int, error) {
	<-l.begun // a client that writes slowly reads meanwhile
	l.reading.Lock()
	defer l.reading.Unlock()
	if len(l.unread) > 0 {
		n := copy(into, l.unread)
		l.unread = l.unread[n:]
		return n, nil
	}
	s := l.of()
	if s == nil {
		return 0, net.ErrClosed
	}
	if l.ends() { // the client waits until Postgres has gone
		if _, err := s.Write(goodbye); err != nil {
			return 0, err
		}
	}
	n, err := s.Read(into)
	if !s.greeting.over {
		s.greeting.note(into[:n])
	}
	return n, err
}

// Close leaves the session to later clients, if this one has taken its leave.
func (l *link) Close() error {
	l.mu.Lock()
	s, left, closed := l.session, l.left, l.closed
	if l.session, l.closed = nil, true; s == nil && !closed {
		close(l.begun)
	}
	l.mu.Unlock()
	if s == nil {
		return nil
	}
	if !left || s.began == "" || s.SetDeadline(time.Unix(1, 0)) != nil {
		return s.Close()
	}
	l.reading.Lock() // what still read on behalf of the client has ended
	defer l.reading.Unlock()
	if s.greeting.over && l.database.leave(s) {
		return nil
	}
	_ = s.SetDeadline(time.Time{})
	_, _ = s.Write(goodbye)
	return s.Close()
}

// ends tells once that a client reads on although it has taken its leave.
func (l *link) ends() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left
	l.left = false
	return left
}

func (l *link) of() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

func (l *link) set(s *session, unread []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		_ = s.Close()
		return net.ErrClosed
	}
	l.session, l.unread = s, unread
	close(l.begun)
	return s.SetDeadline(l.deadline)
}

// SetDeadline bounds what is read and written, also before there is a session.
func (l *link) SetDeadline(at time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadline = at
	if l.session == nil {
		return nil
	}
	return l.session.SetDeadline(at)
}

// SetReadDeadline bounds both: no client of ours sets one alone.
func (l *link) SetReadDeadline(at time.Time) error { return l.SetDeadline(at) }

// SetWriteDeadline bounds both.
func (l *link) SetWriteDeadline(at time.Time) error { return l.SetDeadline(at) }

// LocalAddr is the client's address.
func (l *link) LocalAddr() net.Addr { return l.address(net.Conn.LocalAddr) }

// RemoteAddr is that of Postgres.
func (l *link) RemoteAddr() net.Addr { return l.address(net.Conn.RemoteAddr) }

func (l *link) address(of func(net.Conn) net.Addr) net.Addr {
	if s := l.of(); s != nil {
		return of(s.Conn)
	}
	return &net.UnixAddr{}
}
