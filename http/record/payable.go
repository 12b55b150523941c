package record

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A Payable order tells where its customer can pay.
type Payable struct{ order.Payable }

// Fields are the answer to who has to pay an order.
func (o *Payable) Fields() field.Set {
	return field.Set{
		field.UUID("order_id", &o.ID),
		field.Text("order_number", &o.Number),
		field.Text("payment_url", &o.PaymentURL).Doc("Where the customer pays."),
		field.Text("status", (*string)(&o.Status)).Among(projections.OrderStatuses...),
	}
}

// ToPay is the answer when an order was sent to payment. If the provider has opened no
// page, it is a 503, unless the database is away. Why, is for the log.
func ToPay(ctx context.Context, log *slog.Logger, placed order.Payable, err error, isAway func(error) bool) (*Payable, error) {
	if errors.Is(err, order.ErrNoPaymentPage) && (isAway == nil || !isAway(err)) {
		log.WarnContext(ctx, "no payment page could be opened", "order", placed.ID.String(), "err", err.Error())
		err = &route.Refusal{
			Status: http.StatusServiceUnavailable, After: 5 * time.Second,
			Detail: "The payment provider is temporarily unavailable.", Code: "payment_provider_unavailable",
			More: []route.Member{{Name: "order_id", Value: placed.ID.String()}},
		}
	}
	return &Payable{placed}, err
}
