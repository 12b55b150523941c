package http_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"hostpanel/adapters/payments/test"
	panel "hostpanel/http"
	"hostpanel/paneltest"
)

// declared is a server that can tell what it serves, and nothing else.
func declared() *panel.Server {
	return &panel.Server{
		Settings: panel.Settings{
			Version: "1", PublicURL: func() string { return paneltest.PublicURL },
			Offers: paneltest.Offers(),
		},
		HostedCheckout: test.New(nil, test.Options{}), Metrics: http.NotFoundHandler(), Log: slog.New(slog.DiscardHandler),
	}
}

func TestEveryRouteHasAnAccessRule(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, r := range declared().Routes() {
		if r.Access.Identify == nil || r.Access.Rule == "" {
			t.Errorf("%s %s is open to everybody by mistake", r.Method, r.Path)
		}
		fmt.Fprintf(&all, "%-6s %-68s %s\n", r.Method, r.Path, r.Access.Rule)
	}
	paneltest.Current(t, "testdata/routes.txt", all.String())
}

func TestTheAPIDocumentIsCurrentAndValid(t *testing.T) {
	t.Parallel()
	document := declared().Document()
	paneltest.Current(t, "openapi.json", string(document)+"\n")
	parsed, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for path, item := range parsed.Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.Description == "" || operation.Description == operation.Summary {
				t.Errorf("%s %s has no description", method, path)
			}
			if success := operation.Responses.Status(http.StatusOK); success != nil && success.Value.Content == nil {
				t.Errorf("%s %s does not say what it answers with", method, path)
			}
		}
	}
}

func TestFiguresAreForThisMachine(t *testing.T) {
	t.Parallel()
	s := declared()
	s.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = io.WriteString(w, "orders 7\n")
	})
	handler := s.Handler()
	for _, call := range []struct {
		from, forwarded string
		want            int
	}{
		{"127.0.0.1:5", "", http.StatusOK},
		{"[::1]:5", "", http.StatusOK},
		{"192.0.2.7:5", "", http.StatusUnauthorized},
		{"127.0.0.1:5", "203.0.113.9", http.StatusUnauthorized},
		{"127.0.0.1:5", "127.0.0.1", http.StatusUnauthorized},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.RemoteAddr = call.from
		if call.forwarded != "" {
			r.Header.Set("X-Forwarded-For", call.forwarded)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != call.want || call.want == http.StatusOK && w.Body.String() != "orders 7\n" {
			t.Errorf("%v: %d %s", call, w.Code, w.Body)
		}
	}
}

// slow is a check of the panel's health that takes until it is told to end.
type slow struct{ asked, end chan struct{} }

func (slow) Alive() map[string]string { return nil }

func (s slow) Ready(context.Context) map[string]string {
	close(s.asked)
	<-s.end
	return nil
}

func TestCallsThatRunWhenTheProgramStopsAreFinished(t *testing.T) {
	t.Parallel()
	check := slow{make(chan struct{}), make(chan struct{})}
	s := declared()
	s.Health = check
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended, status := make(chan error, 1), make(chan int, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	go func() {
		r, err := http.Get("http://" + listener.Addr().String() + "/readyz")
		if err != nil {
			status <- 0
			return
		}
		_ = r.Body.Close()
		status <- r.StatusCode
	}()
	<-check.asked
	stop()
	select {
	case err := <-ended:
		t.Fatalf("the program stopped before the call ended: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	close(check.end)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the call got %d", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestHeadersHaveALimit(t *testing.T) {
	t.Parallel()
	s := declared()
	s.Health = paneltest.Health{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	for size, want := range map[int]int{30 << 10: http.StatusOK, 40 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequest("GET", "http://"+listener.Addr().String()+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Long", strings.Repeat("x", size))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d bytes: %d", size, answer.StatusCode)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
