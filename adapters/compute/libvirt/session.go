package libvirt

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain"
)

// A session is one connection to libvirt. One call at a time has it, so a call can end it:
// the library's functions know no context, and end when their connection is closed.
type session struct {
	*rpc.Libvirt

	conn *watchedConn
}

// A watchedConn knows whether it has failed: the library's own sign is set too late.
type watchedConn struct {
	net.Conn

	failed atomic.Bool
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.failed.Store(true)
	}
	return n, err
}

func (c *watchedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if err != nil {
		c.failed.Store(true)
	}
	return n, err
}

func (c *watchedConn) Close() error {
	c.failed.Store(true)
	return c.Conn.Close()
}

// Dial gives the connection to the library.
func (c *watchedConn) Dial() (net.Conn, error) { return c, nil }

func (s *session) close() { _ = s.conn.Close() }

// take returns a session that no other call has, a new one if need be.
func (h *Hypervisor) take(ctx context.Context) (*session, error) {
	h.mu.Lock()
	for len(h.idle) > 0 {
		s := h.idle[len(h.idle)-1]
		h.idle = h.idle[:len(h.idle)-1]
		if !s.conn.failed.Load() {
			h.mu.Unlock()
			return s, nil
		}
	}
	h.mu.Unlock()
	return h.connect(ctx)
}

// connect opens a session. One that is still being opened when the call ends is closed
// afterwards: the library cannot lose a connection at that moment.
func (h *Hypervisor) connect(ctx context.Context) (*session, error) {
	raw, err := h.target.dial(ctx)
	if err != nil {
		return nil, err
	}
	conn := &watchedConn{Conn: raw}
	s := &session{rpc.NewWithDialer(conn), conn}
	opened := make(chan error, 2)
	leave := context.AfterFunc(ctx, func() { opened <- errors.Join(net.ErrClosed, ctx.Err()) })
	go func() {
		err := s.open(h.target.uri)
		if leave(); err != nil || ctx.Err() != nil {
			s.close()
		}
		opened <- err
	}()
	return s, <-opened
}

// openTime is how long libvirt may take to open a session.
const openTime = 10 * time.Second

func (s *session) open(uri rpc.ConnectURI) error {
	defer time.AfterFunc(openTime, s.close).Stop()
	return s.ConnectToURI(uri)
}

// mostIdle is how many sessions without a call are kept.
const mostIdle = 4

func (h *Hypervisor) giveBack(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.conn.failed.Load() || len(h.idle) >= mostIdle || h.ended.Err() != nil {
		s.close()
		return
	}
	h.idle = append(h.idle, s)
}

// read makes a call that changes nothing, so one without an answer was not done.
func (h *Hypervisor) read(ctx context.Context, what string, do func(*session) error) error {
	return h.with(ctx, domain.Transient, what, do)
}

// write makes a call that may have been carried out when it has no answer.
func (h *Hypervisor) write(ctx context.Context, what string, do func(*session) error) error {
	return h.with(ctx, domain.Unknown, what, do)
}

func (h *Hypervisor) with(ctx context.Context, unanswered domain.Class, what string, do func(*session) error) error {
	s, err := h.take(ctx)
	if err != nil {
		return unreachable(what, err)
	}
	stop := context.AfterFunc(ctx, s.close)
	defer func() {
		if stop() { // else the end of ctx closes it, perhaps only after this
			h.giveBack(s)
		}
	}()
	err = do(s)
	if err != nil && s.conn.failed.Load() && isLost(err) {
		return domain.Fail(unanswered, "no_answer", errors.Join(errors.New(what), err, ctx.Err()))
	}
	return classify(what, err)
}
