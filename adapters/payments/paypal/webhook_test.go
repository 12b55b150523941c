package paypal_test

import (
	"crypto/x509"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

type certificate = x509.Certificate

const someNews = `{"id":"WH-1","event_type":"CHECKOUT.ORDER.APPROVED","resource":{"id":"ORD1"}}`

// P-4, I-10.
func TestNewsReferToTheirOrderAndPayment(t *testing.T) {
	w := opened(t)
	w.there.Approve(w.session)
	w.there.CaptureAs("PENDING")
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	w.there.Settle(w.session, "COMPLETED")
	capture := w.payment().ID
	if _, err := w.refund("1", 100); err != nil {
		t.Fatal(err)
	}
	w.there.GiveBack(w.session, "1.00")
	w.there.Reverse(w.session, "2.00")
	w.there.Dispute(w.session, "CREATED")
	w.there.Dispute(w.session, "RESOLVED")
	w.there.ReverseApproval(w.session)
	w.there.Tell("BILLING.PLAN.CREATED", map[string]string{"id": "P-1"})
	type refs struct{ kind, session, payment string }
	var got, want []refs
	want = []refs{
		{"CHECKOUT.ORDER.APPROVED", w.session, ""},
		{"PAYMENT.CAPTURE.PENDING", w.session, capture},
		{"PAYMENT.CAPTURE.COMPLETED", w.session, capture},
		{"PAYMENT.CAPTURE.REFUNDED", "", capture},
		{"PAYMENT.CAPTURE.REFUNDED", "", capture},
		{"PAYMENT.CAPTURE.REVERSED", "", capture},
		{"CUSTOMER.DISPUTE.CREATED", "", capture},
		{"CUSTOMER.DISPUTE.RESOLVED", "", capture},
		{"CHECKOUT.PAYMENT-APPROVAL.REVERSED", w.session, ""},
		{"BILLING.PLAN.CREATED", "", ""},
	}
	for _, told := range w.there.Take() {
		n, err := w.Verify(told.Raw, told.Header, time.Now())
		if err != nil {
			t.Fatalf("%s: %v", told.Type, err)
		}
		foreign := told.Type == "BILLING.PLAN.CREATED"
		if n.Handled == foreign || !foreign && (n.Order != w.checkout.Order || n.Installation != panel) || n.EventID == "" ||
			n.TransmissionID == "" || n.Live || n.VerifiedBy != "webhook "+paypaltest.WebhookID {
			t.Errorf("%s: %+v", told.Type, n)
		}
		got = append(got, refs{n.Type, n.ObjectRef, n.Payment})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if n := w.there.Calls("certificate"); n != 1 {
		t.Errorf("the certificate was fetched %d times", n)
	}
}

// I-3.
func TestWithoutAWebhookIDNothingIsVerified(t *testing.T) {
	w := newWorld(t, func(c *paypal.Config) { c.WebhookIDs = nil })
	_, err := w.Verify([]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{}), time.Now())
	refusal, ok := err.(*domain.Error) //nolint:errorlint // it is one, or the test fails
	if !ok || refusal.Code != domain.Unavailable || refusal.Reason != "provider_not_configured" {
		t.Errorf("%v", err)
	}
}

// I-4.
func TestTwoWebhookIDsAreGoodWhileOneIsChanged(t *testing.T) {
	w := newWorld(t, func(c *paypal.Config) { c.WebhookIDs = []string{"WHNEW", paypaltest.WebhookID} })
	for _, id := range []string{"WHNEW", paypaltest.WebhookID} {
		n, err := w.Verify([]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Webhook: id}), time.Now())
		if err != nil || n.VerifiedBy != "webhook "+id {
			t.Errorf("%s: %+v, %v", id, n, err)
		}
	}
	if _, err := w.Verify(
		[]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Webhook: "WHOLD"}), time.Now(),
	); domain.CodeOf(err) != domain.Invalid {
		t.Errorf("another's webhook: %v", err)
	}
}

// P-4: all five headers, each once.
func TestEveryHeaderIsWantedOnce(t *testing.T) {
	w := newWorld(t)
	good := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{})
	if _, err := w.Verify([]byte(someNews), good, time.Now()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		paypal.HeaderID, paypal.HeaderTime, paypal.HeaderSignature, paypal.HeaderCertificate, paypal.HeaderAlgorithm,
	} {
		for what, change := range map[string]func(http.Header){
			"missing": func(h http.Header) { h.Del(name) },
			"empty":   func(h http.Header) { h.Set(name, "") },
			"twice":   func(h http.Header) { h.Add(name, h.Get(name)) },
			"changed": func(h http.Header) { h.Set(name, h.Get(name)+"A") },
			"long":    func(h http.Header) { h.Set(name, strings.Repeat("A", 2000)) },
		} {
			h := good.Clone()
			change(h)
			if _, err := w.Verify([]byte(someNews), h, time.Now()); domain.CodeOf(err) != domain.Invalid {
				t.Errorf("%s is %s: %v", name, what, err)
			}
		}
	}
}

func TestABodyThatWasChangedOrWrittenAnewIsRefused(t *testing.T) {
	w := newWorld(t)
	h := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{})
	for _, raw := range []string{
		someNews + " ", strings.Replace(someNews, "ORD1", "ORD2", 1), strings.Replace(someNews, `":"`, `": "`, 1), "",
	} {
		if _, err := w.Verify([]byte(raw), h, time.Now()); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%q: %v", raw, err)
		}
	}
	for _, raw := range []string{
		"", "[]", "{}", "null", `{"id":"WH 1","event_type":"X"}`, `{"id":"WH-1"}`,
		`{"id":"WH-1","event_type":"` + strings.Repeat("X", 200) + `"}`,
	} {
		_, err := w.Verify([]byte(raw), paypaltest.Sign([]byte(raw), paypaltest.Transmission{}), time.Now())
		if domain.CodeOf(err) != domain.Invalid {
			t.Errorf("signed, but no event: %q: %v", raw, err)
		}
	}
	n, err := w.Verify([]byte(`{"id":"WH-1","event_type":"CHECKOUT.ORDER.APPROVED","resource":{"id":"../x","custom_id":"no order"}}`),
		paypaltest.Sign(
			[]byte(`{"id":"WH-1","event_type":"CHECKOUT.ORDER.APPROVED","resource":{"id":"../x","custom_id":"no order"}}`),
			paypaltest.Transmission{},
		),
		time.Now())
	if err != nil || n.ObjectRef != "" || n.Order != (order.News{}).Order {
		t.Errorf("references that are none: %+v, %v", n, err)
	}
}

// P-6, F-9: the signature covers a CRC-32, so another body fits it too. It is
// verified, and the truth is as it was.
func TestAForgedBodyIsVerifiedAndChangesNothing(t *testing.T) {
	w := opened(t)
	w.there.Approve(w.session)
	genuine := w.there.Take()[0]
	body, err := json.Marshal(map[string]any{
		"id": "WH-FORGED", "event_type": "PAYMENT.CAPTURE.COMPLETED", "summary": paypaltest.ForgeHere,
		"resource": map[string]any{
			"id": "CAPFORGED", "status": "COMPLETED", "custom_id": w.checkout.Order.String(),
			"amount":             map[string]string{"currency_code": "EUR", "value": "28.70"},
			"supplementary_data": map[string]any{"related_ids": map[string]string{"order_id": w.session}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	forged := paypaltest.Forge(genuine.Raw, body)
	if crc32.ChecksumIEEE(forged) != crc32.ChecksumIEEE(genuine.Raw) || !json.Valid(forged) {
		t.Fatalf("the forgery is none: %s", forged)
	}
	n, err := w.Verify(forged, genuine.Header, time.Now())
	if err != nil || n.EventID != "WH-FORGED" || n.ObjectRef != w.session {
		t.Fatalf("%+v, %v", n, err)
	}
	if f, p := w.fetch(), w.payment(); f.State != order.SessionApproved || p.State != order.StateCreated ||
		w.there.Done("capture", "") != 0 {
		t.Errorf("the truth is %+v", f)
	}
}
