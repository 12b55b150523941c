package orders

import (
	"context"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

// orderCreate places an order and sends its customer to pay. That is one call
// but never one transaction: first the order stands in the log, then the
// provider is asked with nothing open, then its session stands in the log. A
// call that breaks off between them is resumed by its Idempotency-Key.
func (s *Area) orderCreate() route.Route {
	return route.Post(ordersPath, "Place an order and get the page where it is paid", s.placeOrder).
		As("order_create").Checking(route.Check(s.check)).
		Asking(func() field.Record { return &orderForm{methods: s.Offers.Names()} }).Caching("no-store").
		Keeping(domain.KeepWeek).Resuming(s.resumeOrder).
		Saying(
			"The customer is sent to payment_url. Repeat the call with the same Idempotency-Key when no answer came, "+
				"or a 503: it goes on with the same order.",
		).
		Failing(http.StatusBadRequest, "Fields are wrong; all of them are named.").
		Failing(http.StatusConflict, "A call with the same Idempotency-Key is running.").
		Failing(http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another request.").
		Failing(
			http.StatusServiceUnavailable,
			"The payment provider does not answer. The order waits, order_id names it: repeat the call with the same Idempotency-Key.",
		)
}

func (s *Area) placeOrder(ctx context.Context, c route.Call, f *orderForm) (*record.Payable, error) {
	if err := s.limitOrders(ctx, c, f); err != nil {
		return nil, err
	}
	located := func(id uuid.UUID) {
		c.Location(ordersPath + id.String() + "/")
		c.Correlate(id)
	}
	id, err := s.Orders.Place(ctx, c.Cause, &f.Draft, located)
	if err != nil {
		return nil, err
	}
	return s.toPayment(ctx, id)
}

// limitOrders limits orders with a live key.
func (s *Area) limitOrders(ctx context.Context, c route.Call, f *orderForm) error {
	const perCustomer, perAddress = 10, 30 // in an hour
	if caller.KeyOf(c).Mode != storefront.Live {
		return nil
	}
	if err := s.Callers.Limiter.Spend(ctx, "orders_customer", strings.ToLower(f.Customer.Email), perCustomer, time.Hour); err != nil {
		return err
	}
	return s.Callers.Limiter.Spend(ctx, "orders_address", c.IP.String(), perAddress, time.Hour)
}

// resumeOrder goes on with an order whose first answer was never given, or was
// a 503.
func (s *Area) resumeOrder(ctx context.Context, _ route.Call, location string) (route.Answer, error) {
	id, err := uuid.Parse(path.Base(location))
	if err != nil {
		return nil, err
	}
	placed, err := s.toPayment(ctx, id)
	if err != nil {
		return nil, err
	}
	return placed.Fields(), nil
}

// toPayment sends the customer of an order to pay.
func (s *Area) toPayment(ctx context.Context, id uuid.UUID) (*record.Payable, error) {
	placed, err := s.Orders.ToPayment(ctx, id)
	return record.ToPay(ctx, s.Callers.Log(), placed, err, s.Unavailable)
}
