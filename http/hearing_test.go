package http_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const aMinute = time.Minute

// A heard event is one of a stream. Of a heartbeat only the id is there.
type heardEvent struct {
	name, data string
	id         int64
}

// A hearing is a stream as its client sees it.
type hearing struct {
	t      testing.TB
	answer *http.Response
	events chan heardEvent
	ended  chan error // how it ended: [io.EOF] as it should
	leave  context.CancelFunc
}

// dial opens a stream, whatever comes of it.
func (s *shop) dial(t testing.TB, path string, headers ...string) *hearing {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.public+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r) //nolint:bodyclose // by close
	if err != nil {
		leave()
		t.Fatal(err)
	}
	h := &hearing{t, answer, make(chan heardEvent, 1000), make(chan error, 1), leave}
	go h.read()
	t.Cleanup(h.close)
	return h
}

// hear opens a stream.
func (s *shop) hear(t testing.TB, path string, headers ...string) *hearing {
	t.Helper()
	h := s.dial(t, path, headers...)
	if h.answer.StatusCode != http.StatusOK || h.answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(h.answer.Status, h.answer.Header)
	}
	return h
}

func (h *hearing) close() {
	h.leave()
	_ = h.answer.Body.Close()
}

func (h *hearing) read() {
	lines := bufio.NewReader(h.answer.Body)
	for e := (heardEvent{}); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			h.ended <- err
			return
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "id":
			e.id, _ = strconv.ParseInt(value, 10, 64)
		case "":
			if e != (heardEvent{}) {
				h.events <- e
			}
			e = heardEvent{}
		}
	}
}

// next is the next event that is no heartbeat.
func (h *hearing) next() heardEvent {
	h.t.Helper()
	for deadline := time.After(aMinute); ; {
		select {
		case e := <-h.events:
			if e.name != "" {
				return e
			}
		case err := <-h.ended:
			h.ended <- err
			if len(h.events) == 0 { // else it ended after what it has still to say
				h.t.Fatalf("the stream has ended: %v", err)
			}
		case <-deadline:
			h.t.Fatal("nothing is heard")
		}
	}
}

// is expects the next event.
func (h *hearing) is(name, data string) heardEvent {
	h.t.Helper()
	e := h.next()
	if e.name != name || !strings.Contains(e.data, data) {
		h.t.Fatalf("heard %+v instead of %s %s", e, name, data)
	}
	return e
}

// ends waits for the end of the answer, as it should be.
func (h *hearing) ends() {
	h.t.Helper()
	select {
	case err := <-h.ended:
		if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			h.t.Errorf("the stream was cut: %v", err)
		}
	case <-time.After(aMinute):
		h.t.Fatal("the stream goes on")
	}
}
