package route_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

func call(t http.Handler, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	t.ServeHTTP(w, r)
	return w
}

func expect(t *testing.T, w *httptest.ResponseRecorder, status int, part string) {
	t.Helper()
	if w.Code != status || !strings.Contains(w.Body.String(), part) {
		t.Fatalf("got %d %s, want %d …%s…", w.Code, w.Body, status, part)
	}
}

const anOrder = `{"plan_id":7,"customer_email":"ana@example.com","payment_method":"test"}`

func TestAnOrderWaitsForItsProviderUnderItsKey(t *testing.T) {
	s, table := newShop()
	key := []string{"X-API-Key", goodKey, "Idempotency-Key", "once"}
	place := func(down bool) *httptest.ResponseRecorder {
		s.providerDown = down
		return call(table, "POST", "/storefront/api/orders/", anOrder, key...)
	}
	w := place(true)
	expect(t, w, 503, `{"detail":"The payment provider is temporarily unavailable.","code":"payment_provider_unavailable","order_id":"`)
	if w.Header().Get("Retry-After") != "30" || len(s.orders) != 1 {
		t.Fatalf("Retry-After %q, %d orders", w.Header().Get("Retry-After"), len(s.orders))
	}
	expect(t, place(true), 503, "order_id")
	w = place(false)
	expect(t, w, 201, `"secret":"s3cret"`)
	if w.Header().Get("Idempotent-Replayed") != "true" || w.Header().Get("Location") == "" {
		t.Errorf("headers %v", w.Header())
	}
	expect(t, place(false), 201, `"secret":null`)
	if len(s.orders) != 1 {
		t.Errorf("%d orders", len(s.orders))
	}
}

func TestATwinOfARunningRequestWaits(t *testing.T) {
	s, table := newShop()
	key := []string{"X-API-Key", goodKey, "Idempotency-Key", "once"}
	expect(t, call(table, "POST", "/storefront/api/orders/", anOrder, key...), 201, "")
	for name, row := range s.once.rows {
		row.State = domain.ReplayRunning
		s.once.rows[name] = row
	}
	w := call(table, "POST", "/storefront/api/orders/", anOrder, key...)
	expect(t, w, 409, `{"detail":"A request with this Idempotency-Key is still being processed.","code":"idempotency_in_progress"}`)
	if w.Header().Get("Retry-After") != "1" {
		t.Error(w.Header())
	}
}

func TestWhoCannotCountDoesNotAdmit(t *testing.T) {
	s, table := newShop()
	s.down = true
	w := call(table, "GET", "/storefront/api/plans/", "", "X-API-Key", goodKey)
	expect(t, w, 503, `"code":"unavailable"`)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func TestNeitherPreflightsNorStrangersAreCounted(t *testing.T) {
	s, table := newShop()
	call(table, "OPTIONS", "/storefront/api/plans/", "", "Origin", "https://a.example", "Access-Control-Request-Method", "GET")
	call(table, "GET", "/storefront/api/plans/", "")
	call(table, "GET", "/storefront/api/plans/", "", "X-API-Key", expiredKey)
	call(table, "GET", "/storefront/api/plans/", "", "X-API-Key", boundKey, "Origin", "https://a.example")
	if s.asked != 0 {
		t.Errorf("%d calls were counted", s.asked)
	}
}

func TestAFormIsToldWhatIsWrongOnAPage(t *testing.T) {
	_, table := newShop()
	w := call(table, "POST", "/login/", "password=guess", "Content-Type", "application/x-www-form-urlencoded")
	expect(t, w, 403, "Wrong &lt;password&gt;.")
	if got := w.Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Error(got)
	}
	expect(t, call(table, "POST", "/login/", `{"password":"secret"}`), 415, "Unsupported media type")
}

func TestTheLogTellsTheRouteAndNoSecrets(t *testing.T) {
	s, table := newShop()
	call(
		table, "GET", "/storefront/api/orders/00000000-0000-4000-8000-000000000000/?token=hidden", "", "X-API-Key",
		goodKey, "Authorization", "Bearer hidden", "Traceparent",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	)
	call(table, "GET", "/storefront/api/broken/", `{"password":"hidden"}`, "X-API-Key", goodKey)
	call(table, "GET", "/nowhere%0D%0Ahidden", "")
	call(table, "GET", "/storefront/api/crash/", "", "X-API-Key", goodKey)
	log := s.log.String()
	if strings.Contains(log, "hidden") || strings.Contains(log, goodKey) || strings.Contains(log, "00000000-0000-4000") {
		t.Errorf("the log tells too much:\n%s", log)
	}
	for _, line := range []string{
		`"route":"/storefront/api/orders/{order_id}/"`, `"caller":"api_key:good"`,
		`"trace":"4bf92f3577b34da6a3ce929d0e0e4736"`, `"err":"disk on fire"`, `"panic":"oh no"`, `"route":"(none)"`,
		`"status":500`,
	} {
		if !strings.Contains(log, line) {
			t.Errorf("the log lacks %s:\n%s", line, log)
		}
	}
}

func TestTheClientIsWhoSpeaksToOurOutermostProxy(t *testing.T) {
	var seen netip.Addr
	table := route.Mount(route.Options{
		PublicURL: func() string { return public }, Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
	},
		route.Area{Access: route.Open, Routes: []route.Route{route.File("/ip", "ip", func(
			_ context.Context, c route.Call,
		) (*route.Document, error) {
			seen = c.IP
			return &route.Document{}, nil
		})}})
	tests := []struct{ forwarded, want string }{ // httptest calls from 192.0.2.1
		{"", "192.0.2.1"}, {"203.0.113.5", "203.0.113.5"}, {"6.6.6.6, 203.0.113.5, 192.0.2.7", "203.0.113.5"}, {"nonsense", "192.0.2.1"},
	}
	for _, test := range tests {
		call(table, "GET", "/ip", "", "X-Forwarded-For", test.forwarded)
		if seen.String() != test.want {
			t.Errorf("%q: %s", test.forwarded, seen)
		}
	}
}

func TestDeclarationsThatMakeNoSensePanic(t *testing.T) {
	show := func(context.Context, route.Call) (*site, error) { return &site{}, nil }
	mistakes := map[string]route.Area{
		"no access rule": {Routes: []route.Route{route.Get("/a/", "a", show)}},
		"declared twice": {
			Access: route.Open, Routes: []route.Route{route.Get("/a/", "a", show), route.Get("/a/", "a", show)},
		},
		"outside of": {Access: route.Open, Prefix: "/b/", Routes: []route.Route{route.Get("/a/", "a", show)}},
		"needs one of Serve, Show, Follow and Converse": {Access: route.Open, Routes: []route.Route{{Method: "GET", Path: "/a/"}}},
		"of another type": {
			Access: route.Open,
			Routes: []route.Route{
				route.Post("/a/", "a", func(context.Context, route.Call, *misdeclared) (*site, error) { return nil, nil }),
			},
		},
	}
	for message, area := range mistakes {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, message) {
					t.Errorf("want a panic about %q, got %q", message, said)
				}
			}()
			route.Mount(route.Options{}, area).JSON() // a mistake in a field shows when it is described
		}()
	}
}

type misdeclared struct{ n int64 }

func (m *misdeclared) Fields() field.Set { return field.Set{field.Int("n", &m.n).Default("x")} }

func TestOriginsOfKeys(t *testing.T) {
	tests := []struct {
		domain, origin string
		admitted       bool
	}{
		{"example.com", "https://example.com", true},
		{"example.com", "https://EXAMPLE.com:8443", true},
		{"example.com", "http://example.com", false},
		{"example.com", "https://www.example.com", false},
		{"example.com", "https://notexample.com", false},
		{"example.com", "https://example.com.evil.example", false},
		{"example.com", "null", false},
		{"example.com", "https://example.com/path", false},
		{"example.com", "https://u@example.com", false},
		{"*.example.com", "https://a.b.example.com", true},
		{"*.example.com", "https://example.com", false},
		{"*.example.com", "https://xexample.com", false},
		{"https://example.com", "https://example.com:443", true},
		{"https://example.com:8443", "https://example.com", false},
		{"http://example.com", "http://example.com", true},
		{"localhost", "http://localhost:3000", true},
		{"localhost", "https://localhost", true},
		{"127.0.0.1", "http://127.0.0.1:9", true},
		{"xn--bcher-kva.example", "https://bücher.example", true},
		{"other.example", "https://panel.example", true},
		{"other.example", "http://panel.example", false},
	}
	for _, test := range tests {
		if got := route.AdmitsOrigin([]string{test.domain}, test.origin, public); got != test.admitted {
			t.Errorf("%s for %s: %v", test.origin, test.domain, got)
		}
	}
	if !route.AdmitsOrigin(nil, "null", public) {
		t.Error("a key without domains is for everybody")
	}
}

func TestNamedOriginsMayCallAnAreaWithCORS(t *testing.T) {
	area := route.Area{
		Prefix: "/a/", Access: route.Open, CORS: &route.CORS{Origins: []string{"https://app.example"}},
		Routes: []route.Route{route.Get("/a/", "a", func(context.Context, route.Call) (*site, error) { return &site{}, nil })},
	}
	table := route.Mount(route.Options{PublicURL: func() string { return public }}, area)
	for origin, want := range map[string]string{"https://app.example": "https://app.example", "https://evil.example": ""} {
		got := call(table, "GET", "/a/", "", "Origin", origin).Header().Get("Access-Control-Allow-Origin")
		preflight := call(table, "OPTIONS", "/a/", "", "Origin", origin, "Access-Control-Request-Method", "GET").Header().Get(
			"Access-Control-Allow-Origin",
		)
		if got != want || preflight != want {
			t.Errorf("%s: %q, preflight %q", origin, got, preflight)
		}
	}
}

// The real server, over a real connection: HEAD has no body, and the client
// that has gone is no fault.
func TestOverAConnection(t *testing.T) {
	_, table := newShop()
	server := httptest.NewServer(table)
	defer server.Close()
	answer, err := http.Head(server.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil || len(body) > 0 || answer.ContentLength != int64(len(`{"status":"ok"}`)) {
		t.Errorf("%q %d %v", body, answer.ContentLength, err)
	}
	if answer.Header.Get("Server") != "" {
		t.Error("the server tells what it is")
	}
}

func BenchmarkList(b *testing.B) {
	_, table := newShop()
	r := httptest.NewRequest(http.MethodGet, "/hosting/api/rest/sites/", nil)
	r.Header.Set("Authorization", "Bearer ana")
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		table.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
}
