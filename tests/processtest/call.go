//go:build system

package processtest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An answer is what the program said over HTTP.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Field is one text or number of a JSON answer.
func (a Answer) Field(t *testing.T, name string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(a.Body), &all); err != nil {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	text, _ := all[name].(string)
	return text
}

// Client follows no redirects.
var Client = &http.Client{
	Timeout:       30 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Call sends a request; headers come in pairs.
func Call(ctx context.Context, method, url, body string, headers ...string) (Answer, error) {
	q, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	a, err := Client.Do(q)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	return Answer{a.StatusCode, a.Header, string(text)}, err
}

// Pause is how long the answer asks its client to wait before the next try; a
// moment if it does not say.
func (a Answer) Pause() time.Duration {
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	return 20 * time.Millisecond
}

// Ask is Call for an answer that has to have this status.
func (r *Process) Ask(want int, method, path, body string, headers ...string) Answer {
	r.T.Helper()
	a, err := Call(r.T.Context(), method, r.Base+path, body, headers...)
	if err != nil || a.Status != want {
		r.T.Fatalf("%s %s: status %d instead of %d, %v: %s\n%s", method, path, a.Status, want, err, a.Body, r.Stderr())
	}
	return a
}

// Patience bounds every wait. It is long: a machine that is busy is no fault.
const Patience = 90 * time.Second

// Eventually waits until something is so.
func Eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	Within(t, what, Patience, is)
}

// Within is Eventually with a limit of its own.
func Within(t *testing.T, what string, within time.Duration, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !is(); {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still not: %s", within, what)
		}
		select {
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Number is one of a JSON answer.
func (a Answer) Number(t *testing.T, name string) float64 {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(a.Body), &all); err != nil {
		t.Fatalf("%s: %v", a.Body, err)
	}
	n, _ := all[name].(float64)
	return n
}
