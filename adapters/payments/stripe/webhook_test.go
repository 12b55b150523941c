package stripe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v85/webhook"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// told is what the fake says when a session was paid.
func told(t *testing.T) (*stripe.Provider, stripetest.Event, order.Checkout) {
	t.Helper()
	p, s := account(t)
	c := checkout()
	s.Pay(open(t, p, c).ID)
	return p, s.Events()[0], c
}

func signed(values ...string) http.Header { return http.Header{stripe.Header: values} }

func TestAWebhookCountsOnlyWithStripesSignature(t *testing.T) { // F-8, I-4, S-2
	_, e, _ := told(t)
	p, err := stripe.New(stripe.Options{Key: stripetest.Key, Secrets: []string{"whsec_new", stripetest.Secret}})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	good := stripetest.Sign(e.Body, now, stripetest.Secret)
	sum, _ := strings.CutPrefix(good, fmt.Sprintf("t=%d,", now.Unix()))
	t0 := fmt.Sprintf("t=%d", now.Unix())
	var again bytes.Buffer
	if err := json.Indent(&again, e.Body, "", " "); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		body   []byte
		header http.Header
		by     string // empty: refused
	}{
		{"good", e.Body, signed(good), "secret 2"},
		{"the other secret", e.Body, signed(stripetest.Sign(e.Body, now, "whsec_new")), "secret 1"},
		{"both", e.Body, signed(stripetest.Sign(e.Body, now, "whsec_new", stripetest.Secret)), "secret 1"},
		{"the first v1 wrong", e.Body, signed(stripetest.Sign(e.Body, now, "whsec_else", stripetest.Secret)), "secret 2"},
		{"an unknown scheme besides", e.Body, signed(good + ",v0=00"), "secret 2"},
		{"another version of the API", bytes.Replace(e.Body, []byte("2026-03-25.dahlia"), []byte("2011-01-01"), 1), nil, "secret 2"},
		{"299 s old", e.Body, signed(stripetest.Sign(e.Body, now.Add(-299*time.Second), stripetest.Secret)), "secret 2"},
		{"299 s ahead", e.Body, signed(stripetest.Sign(e.Body, now.Add(299*time.Second), stripetest.Secret)), "secret 2"},
		{"301 s old", e.Body, signed(stripetest.Sign(e.Body, now.Add(-302*time.Second), stripetest.Secret)), ""},
		{"301 s ahead", e.Body, signed(stripetest.Sign(e.Body, now.Add(302*time.Second), stripetest.Secret)), ""},
		{"a wrong secret", e.Body, signed(stripetest.Sign(e.Body, now, "whsec_else")), ""},
		{"no header", e.Body, http.Header{}, ""},
		{"an empty header", e.Body, signed(""), ""},
		{"two headers", e.Body, signed(good, good), ""},
		{"two t", e.Body, signed(t0 + "," + good), ""},
		{"two t, the first old", e.Body, signed("t=1," + good), ""},
		{"no t", e.Body, signed(sum), ""},
		{"no v1", e.Body, signed(t0), ""},
		{"a t that is no number", e.Body, signed("t=now," + sum), ""},
		{"a negative t", e.Body, signed("t=-1," + sum), ""},
		{"one byte changed", append(bytes.Clone(e.Body[:len(e.Body)-1]), ' '), signed(good), ""},
		{"encoded again", again.Bytes(), signed(good), ""},
		{"another order", bytes.ReplaceAll(e.Body, []byte("eur"), []byte("usd")), signed(good), ""},
		{"no body", nil, signed(good), ""},
		{"no JSON", []byte("{"), nil, ""},
		{"no event", []byte(`{"id":"evt_1","object":"charge","type":"charge.refunded"}`), nil, ""},
		{"no id", []byte(`{"object":"event","type":"charge.refunded"}`), nil, ""},
	} {
		if c.header == nil {
			c.header = signed(stripetest.Sign(c.body, now, stripetest.Secret))
		}
		n, err := p.Verify(c.body, c.header, now)
		if c.by == "" && domain.CodeOf(err) != domain.Invalid || c.by != "" && (err != nil || n.VerifiedBy != c.by || n.EventID != e.ID) {
			t.Errorf("%s: %+v, %v", c.name, n, err)
		}
	}
}

func TestWithoutASecretNothingIsBelieved(t *testing.T) { // I-3
	_, e, _ := told(t)
	p, err := stripe.New(stripe.Options{Key: stripetest.Key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Verify(e.Body, signed(stripetest.Sign(e.Body, time.Now(), "")), time.Now())
	var refused *domain.Error
	if !errors.As(err, &refused) || refused.Code != domain.Unavailable || refused.Reason != "provider_not_configured" {
		t.Errorf("%v", err)
	}
}

func verify(t *testing.T, p *stripe.Provider, e stripetest.Event) order.News {
	t.Helper()
	n, err := p.Verify(e.Body, signed(stripetest.Sign(e.Body, time.Now(), stripetest.Secret)), time.Now())
	if err != nil {
		t.Fatalf("%s: %v", e.Type, err)
	}
	return n
}

func TestNewsTellWhatTheyAreAbout(t *testing.T) { // S-3, I-10
	p, s := account(t)
	_, call := sold(t, p, s)
	late := checkout()
	lateID := open(t, p, late).ID
	s.PayLater(lateID)
	s.Settle(lateID)
	bounced := open(t, p, checkout()).ID
	s.PayLater(bounced)
	s.Bounce(bounced)
	s.Expire(open(t, p, checkout()).ID)
	r, err := p.Refund(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	s.SetRefund(r.ID, "failed")
	s.CloseDispute(s.Dispute(call.Payment, 1, "needs_response"), "lost")
	types := map[string]bool{}
	for _, e := range s.Events() {
		n := verify(t, p, e)
		types[e.Type] = true
		about := strings.HasPrefix(e.Type, "checkout.session.")
		dispute := strings.HasPrefix(e.Type, "charge.dispute.")
		if n.Installation != panel && !dispute {
			t.Errorf("%s is of the installation %q", e.Type, n.Installation)
		}
		if n.EventID != e.ID || n.Type != e.Type || !n.Handled || n.Live || n.TransmissionID != "" {
			t.Errorf("%s: %+v", e.Type, n)
		}
		if about != (n.ObjectRef != "") || (n.Order == uuid.Nil) != dispute || n.Payment == "" && e.Type != "checkout.session.expired" {
			t.Errorf("%s: %+v has other references", e.Type, n)
		}
		if !about && (n.Payment != call.Payment || !dispute && n.Order != call.Order) {
			t.Errorf("%s: %+v is about something else", e.Type, n)
		}
	}
	for _, want := range []string{
		"checkout.session.completed", "checkout.session.async_payment_succeeded",
		"checkout.session.async_payment_failed", "checkout.session.expired",
		"refund.created", "refund.updated", "refund.failed", "charge.refunded", "charge.dispute.created",
		"charge.dispute.funds_withdrawn", "charge.dispute.closed",
	} {
		if !types[want] {
			t.Errorf("nothing has told of %s", want)
		}
	}
}

func TestOtherNewsAreNotHandled(t *testing.T) { // I-8
	p, s := account(t)
	about := map[string]any{"id": "cs_test_1", "object": "checkout.session", "client_reference_id": uuid.NewString()}
	if n := verify(t, p, s.Event("invoice.paid", map[string]any{"id": "in_1", "object": "invoice"})); n.Handled ||
		n.Type != "invoice.paid" || n.EventID == "" {
		t.Errorf("a type that we do not know: %+v", n)
	}
	live := stripetest.Start(t, stripetest.Options{Key: "sk_live_OfTheTests"})
	if n := verify(t, p, live.Event("checkout.session.completed", about)); n.Handled || !n.Live || n.Order != uuid.Nil {
		t.Errorf("news of the other mode: %+v", n)
	}
	if n := verify(t, p, s.Event("checkout.session.completed", about)); !n.Handled {
		t.Errorf("news of our mode: %+v", n)
	}
	about["client_reference_id"] = "a cart of another shop"
	if n := verify(t, p, s.Event("checkout.session.completed", about)); !n.Handled || n.Order != uuid.Nil || n.ObjectRef != "cs_test_1" {
		t.Errorf("news of another shop: %+v", n)
	}
}

func TestAnEventAboutSomethingElseThanItsTypeIsRefused(t *testing.T) {
	p, s := account(t)
	for _, about := range []map[string]any{
		nil,
		{},
		{"id": "ch_1", "object": "charge"},
		{"id": 7, "object": "checkout.session"},
		{"object": "checkout.session"},
	} {
		e := s.Event("checkout.session.completed", about)
		_, err := p.Verify(e.Body, signed(stripetest.Sign(e.Body, time.Now(), stripetest.Secret)), time.Now())
		if domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%v: %v", about, err)
		}
	}
}

// Its sender is Stripe, so its signature is not what is wrong.
func TestABodyThatIsNoEventIsRefusedAsSuch(t *testing.T) {
	p, _ := account(t)
	now := time.Now()
	for _, body := range []string{`[]`, `7`, `null`, `{}`, `{`, ``, `{"object":"v2.core.event"}`} {
		_, err := p.Verify([]byte(body), signed(stripetest.Sign([]byte(body), now, stripetest.Secret)), now)
		if domain.CodeOf(err) != domain.Invalid || err.Error() != "Invalid event." {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestStripesOwnLibrarySignsAsWeVerify(t *testing.T) {
	p, e, _ := told(t)
	at := time.Now()
	theirs := webhook.GenerateTestSignedPayload(&webhook.UnsignedPayload{Payload: e.Body, Secret: stripetest.Secret, Timestamp: at})
	if n, err := p.Verify(theirs.Payload, signed(theirs.Header), at); err != nil || n.EventID != e.ID {
		t.Errorf("%+v, %v", n, err)
	}
}
