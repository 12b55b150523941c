package stripe

import (
	"context"
	"errors"

	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// Refund gives back a part or all of a payment. The same key answers with the
// same refund, or with the same failure ("stored_error"), for a day at least;
// Fetch finds the refund by its reference. That there is nothing left to give
// back ("already_refunded") is for the look-up: it may be by this very call.
func (p *Provider) Refund(ctx context.Context, c order.RefundCall) (order.Refund, error) {
	q := &sdk.RefundCreateParams{
		PaymentIntent: sdk.String(c.Payment), Amount: sdk.Int64(c.Minor),
		Metadata: told(c.Order, c.Installation),
	}
	q.Metadata["reference"] = c.Reference
	if isCharge(c.Session) {
		q.Metadata[chargeMark] = ofSaved
	}
	q.SetIdempotencyKey(c.Key)
	r, err := p.client.V1Refunds.Create(ctx, q)
	if err != nil {
		return order.Refund{}, failure("refund", err)
	}
	if r.ID == "" {
		return order.Refund{}, domain.Fail(domain.Unknown, "garbage", errors.New("stripe, refund: the answer has none"))
	}
	return refundOf(r), nil
}
