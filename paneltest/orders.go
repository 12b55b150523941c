package paneltest

import (
	"encoding/json"
	"net/http/httptest"
	"sync"
	"testing"
)

const AHostingOrder = `{"plan_id":1,"customer_email":"ana@example.com","customer_name":"Ana Canary","payment_method":"test"}`

// An answer to an order.
type Answer struct {
	ID     string `json:"order_id"`
	Number string `json:"order_number"`
	URL    string `json:"payment_url"`
	Status string `json:"status"`
	Code   string `json:"code"`
}

func Read(t testing.TB, w *httptest.ResponseRecorder) (a Answer) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	return a
}

// Order places an order and fails the test unless the answer has this status.
func (s *Shop) Order(t testing.TB, status int, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.Call("POST", "/storefront/api/orders/", body, append([]string{"X-API-Key", s.Known["key"]}, headers...)...)
	if w.Code != status {
		t.Fatalf("got %d %s, want %d", w.Code, w.Body, status)
	}
	return w
}

// AtOnce makes many calls together.
func (s *Shop) AtOnce(n int, call func(int) *httptest.ResponseRecorder) []*httptest.ResponseRecorder {
	answers := make([]*httptest.ResponseRecorder, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = call(i) })
	}
	all.Wait()
	return answers
}
