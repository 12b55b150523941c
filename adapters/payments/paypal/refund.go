package paypal

import (
	"context"
	"fmt"
	"net/http"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// refundMark stands between an order's number and that of one of its refunds:
// "ORD-20261121-7F3K9Q-R1" is what the customer reads in PayPal's mail.
const refundMark = "-R"

// A newRefund is what PayPal is asked for.
type newRefund struct {
	Amount    amount `json:"amount"`
	Reference string `json:"custom_id"`
	Number    string `json:"invoice_id,omitempty"`
}

// Refund gives back a part or all of a capture. The same key answers with the
// same refund, for as long as PayPal remembers it: 45 days.
func (p *Provider) Refund(ctx context.Context, c order.RefundCall) (order.Refund, error) {
	q := question{what: "refund", method: http.MethodPost, path: "/v2/payments/captures/" + c.Payment + "/refund", key: c.Key}
	if !ids.MatchString(c.Payment) {
		return order.Refund{}, noSuch(q)
	}
	back, err := amountOf(c.Minor, c.Currency)
	if err != nil {
		return order.Refund{}, domain.Fail(domain.Permanent, "amount", fmt.Errorf("%s: %w", q.what, err))
	}
	q.body = newRefund{Amount: back, Reference: told(written(c.Reference), c.Installation), Number: numberOf(c)}
	var made refund
	if err := classed(q, p.ask(ctx, q, &made)); err != nil {
		return order.Refund{}, err
	}
	given, err := made.given(c.Order.String())
	if err != nil {
		return order.Refund{}, unclear(q, err)
	}
	given.Reference = c.Reference // it was made under our key
	return given, nil
}

func numberOf(c order.RefundCall) string {
	if parts := numbered.FindStringSubmatch(c.Reference); parts != nil && c.Number != "" {
		return c.Number + refundMark + parts[2]
	}
	return ""
}
