//go:build system

package payments_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"hostpanel/paneltest"
)

func TestAPaymentWebhookMayComeAHundredTimesAtOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	body := paneltest.Event("evt_1", "checkout.session.completed", a, 299, "paid")
	for _, w := range s.AtOnce(100, func(int) *httptest.ResponseRecorder {
		return s.Webhook("/storefront/webhooks/test/",
			body)
	}) {
		if w.Code != http.StatusOK || w.Body.String() != `{"received":true}` {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from webhook_inbox`); n != 1 {
		t.Fatalf("%d rows", n)
	}
}
