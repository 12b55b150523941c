package paneltest

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

// A StreamEvent is one of a stream. Of a heartbeat only the id is there.
type StreamEvent struct {
	name, Data string
	ID         int64
}

// An EventStream is a stream as its client sees it.
type EventStream struct {
	t      testing.TB
	Answer *http.Response
	Events chan StreamEvent
	Ended  chan error // how it ended: [io.EOF] as it should
	leave  context.CancelFunc
}

// Dial opens a stream, whatever comes of it.
func (s *Shop) Dial(t testing.TB, path string, headers ...string) *EventStream {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Public+path, http.NoBody)
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
	h := &EventStream{t, answer, make(chan StreamEvent, 1000), make(chan error, 1), leave}
	go h.read()
	t.Cleanup(h.Close)
	return h
}

// Stream opens a stream.
func (s *Shop) Stream(t testing.TB, path string, headers ...string) *EventStream {
	t.Helper()
	h := s.Dial(t, path, headers...)
	if h.Answer.StatusCode != http.StatusOK || h.Answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(h.Answer.Status, h.Answer.Header)
	}
	return h
}

// Close ends the stream.
func (h *EventStream) Close() {
	h.leave()
	_ = h.Answer.Body.Close()
}

// read reads the stream to its end.
func (h *EventStream) read() {
	lines := bufio.NewReader(h.Answer.Body)
	for e := (StreamEvent{}); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			h.Ended <- err
			return
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "event":
			e.name = value
		case "data":
			e.Data = value
		case "id":
			e.ID, _ = strconv.ParseInt(value, 10, 64)
		case "":
			if e != (StreamEvent{}) {
				h.Events <- e
			}
			e = StreamEvent{}
		}
	}
}

// Next is the next event that is no heartbeat.
func (h *EventStream) Next() StreamEvent {
	h.t.Helper()
	for deadline := time.After(time.Minute); ; {
		select {
		case e := <-h.Events:
			if e.name != "" {
				return e
			}
		case err := <-h.Ended:
			h.Ended <- err
			if len(h.Events) == 0 { // else it ended after what it has still to say
				h.t.Fatalf("the stream has ended: %v", err)
			}
		case <-deadline:
			h.t.Fatal("nothing is heard")
		}
	}
}

// Is expects the next event.
func (h *EventStream) Is(name, data string) StreamEvent {
	h.t.Helper()
	e := h.Next()
	if e.name != name || !strings.Contains(e.Data, data) {
		h.t.Fatalf("heard %+v instead of %s %s", e, name, data)
	}
	return e
}

// Ends waits for the end of the answer, as it should be.
func (h *EventStream) Ends() {
	h.t.Helper()
	select {
	case err := <-h.Ended:
		if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			h.t.Errorf("the stream was cut: %v", err)
		}
	case <-time.After(time.Minute):
		h.t.Fatal("the stream goes on")
	}
}
