package route_test

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain/field"
	"hostpanel/http/route"
)

// A counter is followed as it counts.
type counter struct {
	ready  chan struct{}
	from   int64
	until  int64 // the last number; 0: there is none
	closed *atomic.Int64
}

func (c *counter) Ready() <-chan struct{} { return c.ready }
func (c *counter) Close()                 { c.closed.Add(1) }

func (c *counter) Next(context.Context, route.Call) ([]route.Told, int64, error) {
	c.from++
	told := []route.Told{{Name: "number", Position: c.from, Body: field.Set{field.Int("n", &c.from)}}}
	if c.from == c.until {
		return told, c.from, io.EOF
	}
	return told, c.from, nil
}

type number struct{ N int64 }

func (n *number) Fields() field.Set { return field.Set{field.Int("n", &n.N)} }

// counting is an API that counts to three, and from three on not at all. Of
// endless streams each caller may have two, and each address three.
func counting(t *testing.T, options route.Options) (table *route.Table, closed *atomic.Int64) {
	closed = &atomic.Int64{}
	count := func(until int64) func(context.Context, route.Call, int64) (route.Following, error) {
		return func(_ context.Context, _ route.Call, after int64) (route.Following, error) {
			c := &counter{ready: make(chan struct{}, 1), from: max(after, 0), until: until, closed: closed}
			if until > 0 && after >= until {
				return nil, nil
			}
			if until > 0 {
				close(c.ready)
			}
			return c, nil
		}
	}
	options.Title, options.Version, options.Log = "counting", "1", slog.New(slog.DiscardHandler)
	table = route.Mount(options, route.Area{Name: "Numbers", Prefix: "/", Access: bearer, Routes: []route.Route{
		route.Stream[number]("/three/", "Counts to three", count(3)).As("number_three").OrWith(http.StatusNoContent),
		route.Stream[number]("/endless/", "Says one, and waits", count(0)).As("number_endless").AtMost(2, 3),
	}})
	t.Cleanup(func() {
		table.EndStreams()
		table.EndStreams()
	})
	return table, closed
}

var asAna = []string{"Authorization", "Bearer ana"}

func TestAStreamIsSaidEventByEvent(t *testing.T) {
	table, closed := counting(t, route.Options{})
	w := call(table, "GET", "/three/", "", asAna...)
	want := "retry: 2000\n\nevent: number\nid: 1\ndata: {\"n\":1}\n\nevent: number\nid: 2\ndata: {\"n\":2}\n\nevent: " +
		"number\nid: 3\ndata: {\"n\":3}\n\n"
	h := w.Header()
	if w.Code != 200 || w.Body.String() != want || h.Get("Content-Type") != "text/event-stream" ||
		h.Get("Cache-Control") != "no-store" || h.Get("X-Accel-Buffering") != "no" || h.Get("Content-Length") != "" {
		t.Errorf("%d %v %q", w.Code, h, w.Body)
	}
	if closed.Load() != 1 {
		t.Error("the listener has not stopped")
	}
	again := call(table, "GET", "/three/", "", append(asAna, "Last-Event-ID", "2", "Accept", "text/event-stream")...)
	if text := again.Body.String(); !strings.Contains(text, "id: 3\n") || strings.Contains(text, "id: 2\n") {
		t.Error(text)
	}
	if w := call(table, "GET", "/three/", "", append(asAna, "Last-Event-ID", "3")...); w.Code != http.StatusNoContent || w.Body.Len() > 0 {
		t.Error(w.Code, w.Body)
	}
}

func TestAStreamIsRefusedLikeAnyCall(t *testing.T) {
	table, closed := counting(t, route.Options{})
	for _, c := range []struct {
		method, path string
		headers      []string
		status       int
		body         string
	}{
		{"GET", "/three/", nil, 401, "not provided"},
		{"GET", "/three/", []string{"Authorization", "Bearer eve"}, 403, "permission"},
		{"GET", "/three/", append(asAna, "Accept", "application/json"), 406, "Accept header"},
		{"GET", "/three/?format=json", asAna, 404, "Not found."},
		{"GET", "/three/", append(asAna, "Last-Event-ID", "x"), 400, `{"last_event_id":["A valid integer is required."]}`},
		{"GET", "/three/?last_event_id=-1", asAna, 400, `{"last_event_id":["A valid integer is required."]}`},
		{"GET", "/three/?last_event_id=9223372036854775808", asAna, 400, `{"last_event_id":["A valid integer is required."]}`},
		{"POST", "/three/", asAna, 405, "not allowed"},
		{"OPTIONS", "/three/", asAna, 200, `"renders":["text/event-stream"]`},
	} {
		w := call(table, c.method, c.path, "", c.headers...)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.body) ||
			w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s %s %v: %d %v %s", c.method, c.path, c.headers, w.Code, w.Header(), w.Body)
		}
	}
	if w := call(table, "HEAD", "/endless/", "", asAna...); w.Code != 200 || w.Body.Len() > 0 ||
		w.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if closed.Load() != 1 || table.Streams() != 0 {
		t.Errorf("%d have stopped listening, %d listen", closed.Load(), table.Streams())
	}
}

// opened is an answer that may go on.
type opened struct {
	status int
	header http.Header
	body   io.Reader
}

// served opens a stream over a real connection.
func served(t *testing.T, url string, headers ...string) (o opened, leave func()) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(); _ = w.Body.Close() })
	return opened{w.StatusCode, w.Header, w.Body}, leave
}

func TestStreamsAreBounded(t *testing.T) {
	for _, c := range []struct{ streams, most, status int }{
		{0, 2, http.StatusTooManyRequests},
		{1, 1, http.StatusServiceUnavailable},
	} {
		table, _ := counting(t, route.Options{Streams: c.streams})
		server := httptest.NewServer(table)
		t.Cleanup(server.Close)
		t.Cleanup(table.EndStreams)
		var leave []func()
		for range c.most {
			w, away := served(t, server.URL+"/endless/", asAna...)
			if w.status != 200 {
				t.Fatal(w.status)
			}
			leave = append(leave, away)
		}
		if w, _ := served(t, server.URL+"/endless/", asAna...); w.status != c.status || w.header.Get("Retry-After") != "30" {
			t.Errorf("%d %v", w.status, w.header)
		}
		leave[0]()
		for deadline := time.Now().Add(time.Minute); table.Streams() == c.most; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the departure of the client was not noticed")
			}
		}
		if w, _ := served(t, server.URL+"/endless/", asAna...); w.status != 200 {
			t.Error(w.status)
		}
	}
}

func TestAStreamShowsThatItIsAliveAndEndsWithTheProgram(t *testing.T) {
	table, closed := counting(t, route.Options{Heartbeat: 10 * time.Millisecond})
	server := httptest.NewServer(table)
	t.Cleanup(server.Close)
	w, _ := served(t, server.URL+"/endless/", asAna...)
	lines := bufio.NewScanner(w.body)
	for beats := 0; beats < 3 && lines.Scan(); {
		if lines.Text() == ":" {
			beats++
		}
	}
	table.EndStreams()
	for lines.Scan() {
	}
	if lines.Err() != nil || closed.Load() != 1 {
		t.Error(lines.Err(), closed.Load())
	}
	if w, _ := served(t, server.URL+"/endless/", asAna...); w.status != 200 {
		t.Error(w.status)
	} else if _, err := io.ReadAll(w.body); err != nil {
		t.Error(err)
	}
}
