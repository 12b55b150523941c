package rfb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"hostpanel/eventstore/clock"
)

const (
	shaking = 20 * time.Second // for both handshakes
	writing = 10 * time.Second // that the browser may take to read a part of the screen
	part    = 32 << 10         // bytes on the way, in each direction
)

// ScreenFailed is the code with which a socket is closed whose screen could not be had.
const ScreenFailed websocket.StatusCode = 4502

// A Relay carries what a browser and a screen say to each other. The browser signs in
// without a password: the socket has proved who it is, and the screen's own password never
// leaves the panel.
type Relay struct {
	acted atomic.Int64 // when the user did something last, in nanoseconds since 1970
}

// NewRelay returns a relay whose user has just done something.
func NewRelay() *Relay {
	r := &Relay{}
	r.act()
	return r
}

func (r *Relay) act() { r.acted.Store(clock.Now().UnixNano()) }

// ActedAt is when the user used the keyboard, the mouse or the clipboard last.
func (r *Relay) ActedAt() time.Time { return time.Unix(0, r.acted.Load()) }

// Run relays until one side ends, or ctx does. It closes both, and leaves nothing behind.
func (r *Relay) Run(ctx context.Context, with *websocket.Conn, screen io.ReadWriteCloser, password string) error {
	ends := sync.OnceFunc(func() { _ = screen.Close() }) // it was only used
	defer ends()
	defer context.AfterFunc(ctx, ends)()
	b := &browser{ctx: ctx, with: with, acted: r.act}
	if err := shake(b, screen, password, ends); err != nil {
		return fmt.Errorf("%w: %w", websocket.CloseError{Code: ScreenFailed, Reason: "The screen cannot be had."}, err)
	}
	over := make(chan error, 2)
	go func() { over <- copied(b, screen) }()
	go func() { over <- copied(screen, b) }()
	why := <-over
	ends()
	_ = with.Close(codeOf(why), "") // the browser may be gone
	<-over                          //nolint:errcheck // of the other direction, which ended with the first
	return why
}

// shake makes both handshakes, in a bounded time.
func shake(b *browser, screen io.ReadWriteCloser, password string, ends func()) error {
	patience := time.AfterFunc(shaking, func() {
		ends()
		_ = b.with.CloseNow()
	})
	defer patience.Stop()
	if err := join(screen, password); err != nil {
		return err
	}
	return welcome(b)
}

// copied carries bytes in one direction until its source ends.
func copied(to io.Writer, from io.Reader) error {
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, part))
	return err
}

// codeOf is the code of a socket whose relay has ended: a screen that ends is no failure.
func codeOf(why error) websocket.StatusCode {
	var told websocket.CloseError
	if errors.As(why, &told) {
		return told.Code
	}
	return websocket.StatusNormalClosure
}

// A browser is the socket as a stream of bytes.
type browser struct {
	ctx     context.Context //nolint:containedctx // of the socket
	with    *websocket.Conn
	acted   func()
	message io.Reader // that is being read; nil: none
}

// Messages that noVNC sends by itself begin with these bytes: a request for the next picture,
// the switch of updates without requests, and the answer to a fence.
const (
	nextPicture = 3
	updates     = 150
	fence       = 248
)

// Read reads on. A message that noVNC does not send by itself is the user's.
func (b *browser) Read(p []byte) (int, error) {
	begins := b.message == nil
	if begins {
		_, message, err := b.with.Reader(b.ctx)
		if err != nil {
			return 0, err
		}
		b.message = message
	}
	n, err := b.message.Read(p)
	if begins && n > 0 && p[0] != nextPicture && p[0] != updates && p[0] != fence {
		b.acted()
	}
	if errors.Is(err, io.EOF) {
		b.message, err = nil, nil
	}
	return n, err
}

// Write sends a message. A browser that does not read loses its connection.
func (b *browser) Write(p []byte) (int, error) {
	ctx, cancel := context.WithTimeout(b.ctx, writing)
	defer cancel()
	if err := b.with.Write(ctx, websocket.MessageBinary, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
