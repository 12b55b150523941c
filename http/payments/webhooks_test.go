package payments_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/payments/test"
	"hostpanel/paneltest"
)

func TestAWebhookIsStoredByteForByteInBothFormsOfItsPath(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	for i, path := range []string{"/storefront/webhooks/test/", "/storefront/webhooks/test"} {
		body := paneltest.Event(fmt.Sprintf("evt_%d", i), "checkout.session.completed", a, 299, "paid") + " \n"
		w := s.Webhook(path, body)
		if w.Code != http.StatusOK || w.Body.String() != `{"received":true}` ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		sum := sha256.Sum256([]byte(body))
		if n := s.Count(t, `select count(*) from webhook_inbox where event_id = $1 and body_hash = $2`,
			fmt.Sprintf("evt_%d", i), sum[:]); n != 1 {
			t.Fatalf("%s: %d rows", path, n)
		}
	}
}

func TestWebhooksOfUnknownTypesAreAcceptedToo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	unknown := paneltest.Answer{ID: "00000000-0000-4000-8000-000000000000", URL: "https://x/cs_test_nobody/"}
	for i, body := range []string{
		paneltest.Event("evt_1", "invoice.finalized", unknown, 1, "paid"),
		paneltest.Event("evt_2", "checkout.session.completed", unknown, 1, "paid"),
	} {
		if w := s.Webhook("/storefront/webhooks/test/", body); w.Code != http.StatusOK {
			t.Errorf("%d: %d %s", i, w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from webhook_inbox`); n != 2 {
		t.Fatalf("%d rows", n)
	}
}

func TestAWebhookWithoutAGoodSignatureLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	body := paneltest.Event("evt_1", "checkout.session.completed",
		paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder)), 299, "paid")
	good := func(at time.Time) string { return test.Sign([]byte(paneltest.Secret), []byte(body), at) }
	for name, signature := range map[string]string{
		"none": "", "another secret": test.Sign([]byte("guessed"), []byte(body), time.Now()),
		"old":             good(time.Now().Add(-301 * time.Second)),
		"from the future": good(time.Now().Add(302 * time.Second)),
		"of another body": test.Sign([]byte(paneltest.Secret), []byte(body+" "), time.Now()),
	} {
		w := s.Call("POST", "/storefront/webhooks/test/", body, test.Header, signature)
		if w.Code != http.StatusBadRequest || w.Body.String() != `{"detail":"Invalid signature."}` {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from webhook_inbox`); n != 0 {
		t.Fatalf("%d rows", n)
	}
	if strings.Contains(s.Logged.String(), "evt_1") {
		t.Fatal("the body of a forged webhook is in the log")
	}
}

func TestAWebhookMayHave256KiBAndNotOneByteMore(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	body := `{"id":"evt_big","type":"noise"}`
	body += strings.Repeat(" ", 256<<10-len(body))
	if w := s.Webhook("/storefront/webhooks/test/", body); w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if w := s.Webhook("/storefront/webhooks/test/", body+" "); w.Code != http.StatusRequestEntityTooLarge {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func TestAWebhookThatCannotBeStoredIsSentAgain(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	body := paneltest.Event("evt_1", "checkout.session.completed",
		paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder)), 299, "paid")
	s.Pool().Close()
	s.Readers.Close()
	if w := s.Webhook("/storefront/webhooks/test/", body); w.Code != http.StatusServiceUnavailable ||
		w.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}

func TestWhileTestPaymentsAreOffTheTestProviderDoesNotExist(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) {
		s.Server.HostedCheckout, s.Orders.Offers[2].Configured = nil,
			false
	}).Stock(t)
	for _, path := range []string{
		"/storefront/webhooks/test/", "/storefront/webhooks/test",
		"/storefront/checkout/test/cs_test_" + strings.Repeat("a", 24) + "/",
	} {
		if w := s.Webhook(path, "{}"); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	w := s.Order(t, http.StatusBadRequest, paneltest.HostingOrder)
	if w.Body.String() != `{"payment_method":["\"test\" is not a valid choice."]}` {
		t.Error(w.Body)
	}
}
