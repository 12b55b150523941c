package paneltest

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A Console is one that a program has opened over a WebSocket.
type Console struct {
	t    testing.TB
	ctx  context.Context //nolint:containedctx // of the test
	with *websocket.Conn
	rest []byte // of the last message
}

// Read reads on.
func (c *Console) Read(p []byte) (n int, err error) {
	if len(c.rest) == 0 {
		_, c.rest, err = c.with.Read(c.ctx)
	}
	n = copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, err
}

// Leaves closes the console as a browser does.
func (c *Console) Leaves() { _ = c.with.Close(websocket.StatusNormalClosure, "") }

// OpensConsole opens a WebSocket with headers in pairs. The status is that of a refusal.
func OpensConsole(t testing.TB, address, ticket string, headers ...string) (c *Console, status int, refusal string) {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	options := &websocket.DialOptions{HTTPHeader: h}
	with, answer, err := websocket.Dial(ctx, address+"?ticket="+ticket, options) //nolint:bodyclose // none left
	if err != nil {
		if answer == nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		return nil, answer.StatusCode, string(body)
	}
	with.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = with.CloseNow() })
	return &Console{t: t, ctx: ctx, with: with}, answer.StatusCode, ""
}

// Sees makes the handshake of a browser, and returns the name of the screen.
func (c *Console) Sees() string {
	c.t.Helper()
	c.reads("RFB 003.008\n")
	c.says([]byte("RFB 003.008\n"))
	c.reads("\x01\x01") // no password
	c.says([]byte{1})
	c.reads("\x00\x00\x00\x00")
	c.says([]byte{1})
	head := make([]byte, 24)
	_, err := io.ReadFull(c, head)
	name := make([]byte, binary.BigEndian.Uint32(head[20:]))
	if err == nil {
		_, err = io.ReadFull(c, name)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return string(name)
}

// Asks asks for the next picture, as browsers do by themselves, until the console ends.
func (c *Console) Asks() {
	for c.with.Write(c.ctx, websocket.MessageBinary, []byte{3, 1, 0, 0, 0, 0, 0, width, 0, height}) == nil {
	}
}

// Presses presses a key, and waits for the picture after it.
func (c *Console) Presses(key byte) {
	c.t.Helper()
	c.says([]byte{4, 1, 0, 0, 0, 0, 0, key})
	if _, err := io.CopyN(io.Discard, c, 16+4*width*height); err != nil {
		c.t.Fatal(err)
	}
}

// Ends waits for the end, and returns the code with which the panel has closed it.
func (c *Console) Ends() websocket.StatusCode {
	c.t.Helper()
	_, err := io.Copy(io.Discard, struct{ io.Reader }{c})
	return websocket.CloseStatus(err)
}

func (c *Console) reads(want string) {
	c.t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		c.t.Fatalf("%q instead of %q: %v", got, want, err)
	}
}

func (c *Console) says(words []byte) {
	c.t.Helper()
	if err := c.with.Write(c.ctx, websocket.MessageBinary, words); err != nil {
		c.t.Fatal(err)
	}
}

// AsksForConsole asks for a console, and returns the address of its WebSocket with the ticket.
func (s *Shop) AsksForConsole(t testing.TB, service string, headers ...string) (address, ticket string) {
	t.Helper()
	w := s.Call("POST", "/billing/api/v1/services/"+service+"/vm/console/", `{}`, headers...)
	var issued struct{ URL, Ticket string }
	Decode(t, w, http.StatusCreated, &issued)
	want := fmt.Sprintf("ws%s/billing/api/v1/services/%s/vm/console/ws/", strings.TrimPrefix(s.Public, "http"), service)
	if issued.URL != want {
		t.Errorf("%s instead of %s", issued.URL, want)
	}
	return issued.URL, issued.Ticket
}
