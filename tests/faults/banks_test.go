//go:build system

package faults_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain/order"
)

// A bank is a payment provider as everybody but the panel knows it. What comes
// too late, or asks for more than there is, panics, as the banks' own doubles do.
type bank interface {
	order.Provider
	pay(session string)
	payOther(session string, minor int64)
	payLater(session string)            // the customer is done, the bank is not
	settle(session string, paid bool)   // and now it is
	giveBack(p order.Payment, s string) // all that is left, on the bank's own pages
	dispute(p order.Payment, s string, state order.DisputeState)
	lie(session string, id uuid.UUID) // news, signed, of a payment that never was
	fail(chance *rand.Rand)           // something goes wrong with one of the next calls
	calm()
}

// atStripe is a Stripe of the test's own.
type atStripe struct {
	*stripe.Provider
	there *stripetest.Server
	open  map[string]string // disputes by payment
	post  *post
}

func newAtStripe(t *testing.T, p *post) *atStripe {
	b := &atStripe{there: stripetest.Start(t, stripetest.Options{Webhooks: p.to("stripe")}), open: map[string]string{}, post: p}
	var err error
	if b.Provider, err = stripe.New(
		stripe.Options{Key: stripetest.Key, Secrets: []string{stripetest.Secret}, URL: b.there.URL},
	); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *atStripe) pay(session string)                   { b.there.Pay(session) }
func (b *atStripe) payOther(session string, minor int64) { b.there.PayOther(session, minor, "eur") }
func (b *atStripe) payLater(session string)              { b.there.PayLater(session) }

func (b *atStripe) settle(session string, paid bool) {
	if paid {
		b.there.Settle(session)
		return
	}
	b.there.Bounce(session)
}

func (b *atStripe) giveBack(p order.Payment, _ string) { b.there.Refund(p.ID, left(p)) }

func (b *atStripe) dispute(p order.Payment, _ string, state order.DisputeState) {
	id := b.there.Dispute(p.ID, left(p), "needs_response")
	if state != order.DisputeOpen {
		b.there.CloseDispute(id, string(state))
	}
}

func (b *atStripe) lie(session string, id uuid.UUID) {
	e := b.there.Event("checkout.session.completed", map[string]any{
		"id": session, "object": "checkout.session", "client_reference_id": id, "payment_status": "paid", "amount_total": 1210,
	})
	b.post.deliver("stripe", e.Body, http.Header{stripe.Header: {stripetest.Sign(e.Body, time.Now(), stripetest.Secret)}})
}

func (b *atStripe) fail(chance *rand.Rand) {
	kinds := []stripetest.Kind{
		stripetest.Slow, stripetest.TimeoutBefore, stripetest.TimeoutAfter, stripetest.ResetBefore, stripetest.ResetAfter,
		stripetest.ErrorBefore, stripetest.ErrorAfter, stripetest.Busy, stripetest.InUse, stripetest.Garbage,
	}
	calls := []string{"open", "fetch", "fetch", "expire", "refund", "refund", "disputes"}
	b.there.Fail(stripetest.Fault{Call: anyOf(chance, calls), Kind: anyOf(chance, kinds), Delay: 100 * time.Millisecond})
}

func (b *atStripe) calm() { b.there.Repair() }

// atPayPal is a PayPal of the test's own.
type atPayPal struct {
	*paypal.Provider
	there *paypaltest.PayPal
	post  *post
}

func newAtPayPal(t *testing.T, p *post) *atPayPal {
	b := &atPayPal{there: paypaltest.Start(), post: p}
	t.Cleanup(b.there.Close)
	b.there.Deliver(p.to("paypal"))
	var err error
	b.Provider, err = paypal.New(paypal.Config{
		ClientID: paypaltest.ClientID, ClientSecret: paypaltest.ClientSecret, WebhookIDs: []string{paypaltest.WebhookID}, URL: b.there.URL,
		Roots: b.there.Roots(), Dial: b.there.Dial,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pay is the customer's word; the money has to be fetched.
func (b *atPayPal) pay(session string) { b.there.Approve(session) }

func (b *atPayPal) payOther(session string, minor int64) {
	b.there.Change(session, func(o *paypaltest.Order) { o.Amount.Value = decimal.New(minor, -2).StringFixed(2) })
	b.there.Approve(session)
}

// payLater lets the bank take its time with the capture.
func (b *atPayPal) payLater(session string) {
	b.there.Change(session, func(o *paypaltest.Order) { o.CaptureAs = "PENDING" })
	b.there.Approve(session)
}

func (b *atPayPal) settle(session string, paid bool) {
	b.there.Settle(session, map[bool]string{true: "COMPLETED", false: "DECLINED"}[paid])
}

func (b *atPayPal) giveBack(p order.Payment, session string) {
	b.there.GiveBack(session, decimal.New(left(p), -2).StringFixed(2))
}

// dispute is news that only a person can confirm; a lost one is taken back by
// PayPal itself.
func (b *atPayPal) dispute(p order.Payment, session string, state order.DisputeState) {
	b.there.Dispute(session, "CREATED")
	if state == order.DisputeLost {
		b.there.Reverse(session, decimal.New(left(p), -2).StringFixed(2))
	}
}

func (b *atPayPal) lie(session string, id uuid.UUID) {
	w := b.there.Tell("PAYMENT.CAPTURE.COMPLETED", map[string]any{
		"id": "CAPLIE", "status": "COMPLETED", "custom_id": id, "amount": map[string]string{"currency_code": "EUR", "value": "12.10"},
		"supplementary_data": map[string]any{"related_ids": map[string]string{"order_id": session}},
	})
	b.post.deliver("paypal", w.Raw, w.Header)
}

func (b *atPayPal) fail(chance *rand.Rand) {
	if chance.IntN(20) == 0 {
		b.there.Revoke()
		return
	}
	whats := []string{
		paypaltest.FailBefore, paypaltest.FailAfter, paypaltest.HangBefore, paypaltest.HangAfter, paypaltest.ResetBefore,
		paypaltest.ResetAfter,
		paypaltest.Slow, paypaltest.SlowInside, paypaltest.Garbage,
	}
	calls := []string{"create", "get", "get", "capture", "capture", "refund", "refund"}
	b.there.Break(paypaltest.Fault{Call: anyOf(chance, calls), What: anyOf(chance, whats), For: 100 * time.Millisecond})
}

func (b *atPayPal) calm() { b.there.Repair() }

// atNobody is the test provider.
type atNobody struct {
	*test.Provider
	t    *testing.T
	post *post
}

var nobodysSecret = []byte("a secret of the tests")

func (b *atNobody) act(a order.HostedAction) {
	a.Copies = 1
	if _, err := b.Act(b.t.Context(), a); err != nil {
		panic(err)
	}
}

func (b *atNobody) pay(session string) { b.act(order.HostedAction{Session: session, Action: "pay"}) }

func (b *atNobody) payOther(session string, minor int64) {
	b.act(order.HostedAction{Session: session, Action: "pay", Amount: &minor})
}

func (b *atNobody) payLater(session string) {
	b.act(order.HostedAction{Session: session, Action: "unpaid"})
}

func (b *atNobody) settle(session string, paid bool) {
	if paid {
		b.tell("checkout.session.completed", session, 1210, `"payment_status":"paid"`)
	}
}

func (b *atNobody) giveBack(p order.Payment, session string) {
	b.tell("refund.created", session, left(p), `"payment_id":"`+p.ID+`"`)
}

func (b *atNobody) dispute(p order.Payment, session string, state order.DisputeState) {
	name := fmt.Sprintf(`"payment_id":%q,"dispute_id":"dp_%s"`, p.ID, p.ID)
	b.tell("charge.dispute.created", session, left(p), name)
	if state != order.DisputeOpen {
		b.tell("charge.dispute.closed", session, left(p), fmt.Sprintf(`%s,"status":%q`, name, state))
	}
}

// tell signs an event with the provider's secret and delivers it.
func (b *atNobody) tell(kind, session string, minor int64, more string) {
	raw := fmt.Appendf(nil, `{"id":"evt_%s","type":%q,"data":{"object":{"id":%q,"amount_total":%d,"currency":"eur",%s}}}`,
		uuid.New(), kind, session, minor, more)
	b.post.deliver("test", raw, http.Header{test.Header: {test.Sign(nobodysSecret, raw, time.Now())}})
}

// lie delivers an event with a forged signature.
func (b *atNobody) lie(session string, id uuid.UUID) {
	raw := fmt.Appendf(nil, `{"id":"evt_%s","type":"checkout.session.completed","data":{"object":{"id":%q,`+
		`"client_reference_id":%q,"amount_total":1210,"currency":"eur","payment_status":"paid"}}}`,
		uuid.New(), session, id)
	b.post.refuses("test", raw, http.Header{test.Header: {test.Sign([]byte("another secret"), raw, time.Now())}})
}

func (b *atNobody) fail(chance *rand.Rand) {
	what := anyOf(
		chance,
		[]faults.What{
			faults.Slow, faults.TimeoutBefore, faults.TimeoutAfter, faults.ResetBefore, faults.ResetAfter,
			faults.ErrorBefore, faults.ErrorAfter,
		},
	)
	call := faults.Create
	if what != faults.TimeoutAfter && what != faults.ResetAfter && what != faults.ErrorAfter {
		call = anyOf(chance, []string{faults.Create, faults.Find, faults.Remove})
	}
	if _, err := b.Faults().Order(b.t.Context(), faults.Fault{What: what, Call: call, Delay: 100 * time.Millisecond}); err != nil {
		b.t.Error(err)
	}
}

func (b *atNobody) calm() {
	if err := b.Faults().Clear(b.t.Context()); err != nil {
		b.t.Error(err)
	}
}

// left is what has not left us of a payment.
func left(p order.Payment) int64 {
	minor := p.Minor
	for _, r := range p.Refunds {
		if r.State == order.RefundSucceeded {
			minor -= r.Minor
		}
	}
	for _, d := range p.Disputes {
		if d.State == order.DisputeLost {
			minor -= d.Minor
		}
	}
	return max(minor, 0)
}

func anyOf[T any](chance *rand.Rand, of []T) T { return of[chance.IntN(len(of))] }

// tampered is a body with one of its bytes changed.
func tampered(raw []byte) []byte {
	other := slices.Clone(raw)
	if i := bytes.IndexByte(other, ':'); i >= 0 {
		other[i] = ';'
	}
	return other
}
