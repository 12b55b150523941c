package paneltest

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/projections"
)

// Press sends the form of the test provider's page.
func (s *Shop) Press(a Answer, fields ...string) *httptest.ResponseRecorder {
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return s.Call("POST", PathOf(a.URL), form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func PathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		panic(err)
	}
	return u.RequestURI()
}

func Has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func (s *Shop) Await(t testing.TB, a Answer, status order.Status) projections.OrderView {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for {
		changed := s.Changed()
		o, err := s.For(projections.System).OrderView(t.Context(), uuid.MustParse(a.ID))
		if err == nil && o.Status == status {
			return o
		}
		if time.Now().After(deadline) {
			t.Fatalf("the order is %s (%v), want %s\n%s", o.Status, err, status, s.Logged)
		}
		select {
		case <-changed:
		case <-time.After(100 * time.Millisecond):
		}
	}
}
