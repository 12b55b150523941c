package stripe_test

import (
	"testing"
)

func TestNewsOfAChargeLeadToIt(t *testing.T) { // S-3, I-10
	p, s := account(t)
	m := saved(t, p, s)
	before := len(s.Events())
	want := map[string]string{}
	for _, outcome := range []string{"succeeded", "processing", "requires_action", "card_declined insufficient_funds"} {
		c := renewal(m)
		id := open(t, p, c).ID
		s.ChargesBecome(outcome)
		_ = p.Capture(t.Context(), captureOf(c, id))
		want[id] = c.Order.String()
		if outcome == "succeeded" {
			s.Refund(id, 9)
		}
	}
	off := renewal(m)
	id := open(t, p, off).ID
	want[id] = off.Order.String()
	if err := p.ExpireSession(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	types := map[string]bool{}
	for _, e := range s.Events()[before:] {
		n := verify(t, p, e)
		types[e.Type] = true
		if e.Type == "refund.created" { // made at the dashboard: nothing but the payment is known
			if n.ObjectRef != "" || want[n.Payment] == "" {
				t.Errorf("%s: %+v", e.Type, n)
			}
			continue
		}
		if !n.Handled || n.ObjectRef != n.Payment || n.Order.String() != want[n.ObjectRef] {
			t.Errorf("%s: %+v", e.Type, n)
		}
	}
	for _, kind := range []string{"succeeded", "processing", "requires_action", "payment_failed", "canceled"} {
		if !types["payment_intent."+kind] {
			t.Errorf("nothing has told of %s", kind)
		}
	}
	if !types["charge.refunded"] {
		t.Error("nothing has told of a refund")
	}
}

// The payments of pages have such news too, and so has whatever else the account takes.
func TestNewsOfAPagesPaymentAreNotHandled(t *testing.T) {
	p, s := account(t)
	for _, metadata := range []map[string]string{{}, {"order_id": checkout().Order.String()}} {
		e := s.Event("payment_intent.succeeded", map[string]any{"id": "pi_1", "object": "payment_intent", "metadata": metadata})
		if n := verify(t, p, e); n.Handled || n.ObjectRef != "" || n.Payment != "" {
			t.Errorf("%v: %+v", metadata, n)
		}
	}
}
