package paneltest

import (
	"net/http/httptest"
	"testing"
)

const TenantOrders = "/billing/api/v1/orders/"

// OrdersInto asks for a service as a user does.
func (s *Shop) OrdersInto(t *testing.T, who string, status int, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := s.Call("POST", TenantOrders, body, append(Bearer(s.Known[who]), headers...)...)
	if w.Code != status {
		t.Fatalf("%s as %s: %d %s, not %d", body, who, w.Code, w.Body, status)
	}
	return w
}
