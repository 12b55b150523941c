package paypaltest

import (
	"fmt"
	"slices"
	"strings"
)

// What customers, banks and the shop's owner do at PayPal. An id that is not
// there is a mistake of the test.

// Order is how an order stands, by its id.
func (p *PayPal) Order(id string) (Order, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, found := p.orders[id]
	if !found {
		return Order{}, false
	}
	copied := *o
	copied.Captures, copied.Refunds = slices.Clone(o.Captures), slices.Clone(o.Refunds)
	return copied, true
}

// OrderOf is the order that carries a reference of the panel's, with or without
// something behind it.
func (p *PayPal) OrderOf(reference string) (Order, bool) {
	p.mu.Lock()
	var id string
	for _, o := range p.orders {
		if strings.HasPrefix(o.Reference, reference) {
			id = o.ID
		}
	}
	p.mu.Unlock()
	return p.Order(id)
}

// Change makes an order anything at all, in silence.
func (p *PayPal) Change(id string, how func(*Order)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	how(p.must(id))
}

func (p *PayPal) must(id string) *Order {
	o, found := p.orders[id]
	if !found {
		panic(fmt.Sprintf("paypaltest: there is no order %q", id))
	}
	return o
}

// Approve is the customer's yes. To say it twice is to say it once.
func (p *PayPal) Approve(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	if o.Status != "PAYER_ACTION_REQUIRED" {
		return
	}
	o.Status, o.Updated = "APPROVED", p.now().UTC()
	p.tell("CHECKOUT.ORDER.APPROVED", p.shown(o))
}

// ReverseApproval is what happens to an approval that was not captured for
// three hours.
func (p *PayPal) ReverseApproval(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	o.Status, o.Updated = "VOIDED", p.now().UTC()
	p.tell("CHECKOUT.PAYMENT-APPROVAL.REVERSED", object{"order_id": o.ID, "purchase_units": []any{object{"custom_id": o.Reference}}})
}

// Forget is what PayPal does with old unpaid orders.
func (p *PayPal) Forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.orders, id)
}

// CaptureAs makes captures from now on COMPLETED, PENDING or DECLINED, or
// refuses them with INSTRUMENT_DECLINED and asks the customer again. A charge of
// a saved method is refused with any other word as the issue.
func (p *PayPal) CaptureAs(status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.captures = status
}

// Settle ends the wait of a pending capture: COMPLETED or DECLINED.
func (p *PayPal) Settle(id, status string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	last := len(o.Captures) - 1
	o.Captures[last].Status = status
	p.tellCapture(o, last)
}

// GiveBack is a refund made on PayPal's own pages.
func (p *PayPal) GiveBack(id, value string) { p.takeBack(id, value, "PAYMENT.CAPTURE.REFUNDED") }

// Reverse is a bank, or PayPal itself, that takes money back.
func (p *PayPal) Reverse(id, value string) { p.takeBack(id, value, "PAYMENT.CAPTURE.REVERSED") }

func (p *PayPal) takeBack(id, amount, event string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	last, back := len(o.Captures)-1, Money{o.Amount.Currency, amount}
	if o.left(last).LessThan(value(back)) {
		panic(fmt.Sprintf("paypaltest: order %q has not so much left", id))
	}
	p.give(o, last, Refund{Status: "COMPLETED", Amount: back}, event)
}

// FailRefund makes the last refund of an order one that came back.
func (p *PayPal) FailRefund(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	r := &o.Refunds[len(o.Refunds)-1]
	r.Status = "FAILED"
	for i, c := range o.Captures {
		if c.ID == r.Capture {
			o.restate(i)
		}
	}
	p.tell("PAYMENT.REFUND.FAILED", p.shownRefund(o, *r))
}

// Dispute is a customer who claims the money back: step is CREATED, UPDATED or
// RESOLVED.
func (p *PayPal) Dispute(id, step string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.must(id)
	p.tell("CUSTOMER.DISPUTE."+step, object{
		"dispute_id": "PP-D-" + o.ID, "status": "OPEN", "dispute_amount": o.Amount,
		"disputed_transactions": []any{object{
			"seller_transaction_id": o.Captures[len(o.Captures)-1].ID, "custom": o.Reference, "invoice_number": o.Number,
		}},
	})
}
