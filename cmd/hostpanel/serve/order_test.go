package serve_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

// served serves a demo in this process until the test ends.
func served(t *testing.T) (serve.Demo, *program.Program) {
	t.Helper()
	dir := t.TempDir()
	cfg, err := config.New(config.Settings{
		DatabaseURL: eventstoretest.URL(t), DataDir: dir, Listen: "127.0.0.1:0", SecretKey: programtest.SecretKey,
		Payments: config.Providers(),
	}, true)
	must(t, err)
	p, err := program.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), program.Serving)
	must(t, err)
	t.Cleanup(p.Close)
	p.Store.Attach(eventstoretest.Caused())
	ctx, stop := context.WithCancel(context.Background())
	listener, err := serve.Listen(ctx, p)
	if err == nil {
		err = serve.SetUp(ctx, p, quiet)
	}
	var group errgroup.Group
	t.Cleanup(func() {
		stop()
		must(t, group.Wait())
	})
	must(t, err)
	group.Go(func() error { return serve.Serve(ctx, p, listener, quiet) })
	d, err := serve.ReadDemo(filepath.Join(dir, "demo.json"))
	must(t, err)
	return d, p
}

// asked sends a request, and fails the test if the answer has another status.
func asked(t *testing.T, want int, method, address, body string, headers ...string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	must(t, err)
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	a, err := http.DefaultTransport.RoundTrip(q)
	must(t, err)
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != want {
		t.Fatalf("%s %s: %d %s, %v", method, address, a.StatusCode, text, err)
	}
	return string(text)
}

// The program as it is wired sells hosting: from the plan to the mail.
func TestAnOrderPassesThroughTheWiredProgram(t *testing.T) {
	t.Parallel()
	d, p := served(t)
	var placed struct {
		ID     string `json:"order_id"`
		Number string `json:"order_number"`
		Page   string `json:"payment_url"`
	}
	body := fmt.Sprintf(`{"plan_id":%d,"customer_email":"ana@customer.example","customer_name":"Ana Example",`+
		`"payment_method":"test","domain":"ana.example","language":"en"}`, d.Plans.Hosting)
	answer := asked(t, 201, "POST", d.BaseURL+"/storefront/api/orders/", body, "X-API-Key", d.APIKey,
		"Content-Type", "application/json")
	must(t, json.Unmarshal([]byte(answer), &placed))
	page, err := url.Parse(placed.Page)
	must(t, err)
	asked(t, 303, "POST", d.BaseURL+page.RequestURI(), "action=pay", "Content-Type", "application/x-www-form-urlencoded")
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer = asked(t, 200, "GET", d.BaseURL+"/storefront/api/orders/"+placed.ID+"/", "", "X-API-Key", d.APIKey)
		if strings.Contains(answer, `"status":"active"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the order is not active: %s", answer)
		}
	}
	mails, err := filepath.Glob(filepath.Join(p.Config.DataDir, "outbox", "*.eml"))
	if err != nil || len(mails) == 0 {
		t.Errorf("no mail is sent: %v", err)
	}
	for _, path := range []string{"/healthz", "/readyz", "/api/schema/"} {
		asked(t, 200, "GET", d.BaseURL+path, "")
	}
	if figures := asked(t, 200, "GET", d.BaseURL+"/metrics", ""); !strings.Contains(figures,
		`hostpanel_orders{status="active"} 1`) {
		t.Errorf("the figures do not show the order: %s", figures)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
