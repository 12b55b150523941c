package route_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/http/route"
)

// All bodies that are in memory have one budget. Bodies over it are refused;
// short ones always pass.
func TestBodiesInMemoryHaveABudget(t *testing.T) {
	arrived, leave := make(chan bool), make(chan bool)
	known := route.Access{Rule: "user", Scheme: "bearer", Identify: func(context.Context, route.Request) (route.Caller, error) {
		return route.Caller{Principal: "user:1"}, nil
	}}
	table := route.Mount(route.Options{Bodies: 1 << 20}, route.Area{Access: known, Routes: []route.Route{
		route.Post("/a/", "a", func(_ context.Context, _ route.Call, s *site) (*site, error) {
			if s.Domain == "waits.example" {
				arrived <- true
				<-leave
			}
			return s, nil
		}),
	}})
	post := func(domain string, blanks int) *httptest.ResponseRecorder {
		body := `{"domain":"` + domain + `"` + strings.Repeat(" ", blanks) + "}"
		r := httptest.NewRequest("POST", "/a/", io.MultiReader(strings.NewReader(body))) // of unknown length
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		table.ServeHTTP(w, r)
		return w
	}
	held := make(chan *httptest.ResponseRecorder)
	go func() { held <- post("waits.example", 900_000) }()
	<-arrived
	if w := post("b.example", 900_000); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("over the budget: %d %s", w.Code, w.Body)
	}
	if w := post("c.example", 10_000); w.Code != http.StatusCreated {
		t.Errorf("a short body: %d %s", w.Code, w.Body)
	}
	leave <- true
	if w := <-held; w.Code != http.StatusCreated {
		t.Errorf("within the budget: %d %s", w.Code, w.Body)
	}
	for range 5 {
		if w := post("d.example", 900_000); w.Code != http.StatusCreated {
			t.Errorf("when the budget is free again: %d %s", w.Code, w.Body)
		}
	}
}

// Who needs no credentials may send little.
func TestBodiesOfOpenRoutesAreShort(t *testing.T) {
	_, table := newShop()
	for path, most := range map[string]int{"/login/": 16 << 10, "/storefront/webhooks/stripe/": 256 << 10} {
		for length, want := range map[int]bool{most: false, most + 1: true} {
			r := httptest.NewRequest("POST", path, io.MultiReader(strings.NewReader(strings.Repeat("x", length))))
			w := httptest.NewRecorder()
			table.ServeHTTP(w, r)
			if (w.Code == http.StatusRequestEntityTooLarge) != want {
				t.Errorf("%s with %d bytes: %d", path, length, w.Code)
			}
		}
	}
}
