package operations

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// OrderDetails collects the history of an order.
type OrderDetails interface {
	// OrderDetail is what is known of an order besides the order.
	OrderDetail(ctx context.Context, order uuid.UUID) (operations.OrderDetail, error)
}

// Orders carries out what operators ask for orders; each is an event with its
// actor and reason. What the state of an order forbids is refused with
// domain.Conflict, reason "invalid_state" (docs/operations.md).
type Orders interface {
	// Retry lets a failed order go on where it stopped. Input changes what the
	// step works with: "domain" at site, "os_choice" at vm.
	Retry(ctx context.Context, cause domain.Metadata, order uuid.UUID, input map[string]string, reason string) error
	// Skip puts the failed step behind the order, with a proof that is looked up.
	Skip(ctx context.Context, cause domain.Metadata, order uuid.UUID, step, external, reason string) error
	// Cancel gives an order up, takes back what is being set up, or ends what runs.
	Cancel(ctx context.Context, cause domain.Metadata, order uuid.UUID, reason string) error
	// EndGrace lets the removal of a service that has ended begin now.
	EndGrace(ctx context.Context, cause domain.Metadata, order uuid.UUID, reason string) error
}

// Payments carries out what operators decide about the money of orders, and
// shows what payment providers have sent.
type Payments interface {
	Inbox
	Reconciliation
	// Accept takes a payment that differs from what was ordered.
	Accept(ctx context.Context, cause domain.Metadata, order uuid.UUID, reason string) error
	// Recheck asks the provider once more.
	Recheck(ctx context.Context, cause domain.Metadata, order uuid.UUID, reason string) error
	// Refund gives money back; nil: all that is left.
	Refund(ctx context.Context, cause domain.Metadata, order uuid.UUID, amount *decimal.Decimal, reason string) error
	// Dispute records an operator's word on a dispute that only they can see.
	Dispute(ctx context.Context, cause domain.Metadata, order uuid.UUID, outcome order.DisputeState, reason string) error
}

const (
	ordersPath = operationsPrefix + "orders/"
	orderPath  = ordersPath + "{uuid:uuid}/"
)

var orderHolds = []string{"payment_mismatch", "duplicate_payment", "dispute", "refund_failed", "needs_operator"}

func (s *orders) orderFileRoutes() []route.Route {
	return append([]route.Route{
		listing.Pages[projections.Order](ordersPath, "Orders", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Text("status", new(string)).Among(projections.OrderStatuses...).Doc("Only orders in this status."),
					field.Text("hold", new(string)).Among(orderHolds...).Doc("Only orders that a person has to look at for this reason."),
					field.Text("payment_method", new(string)).Among(s.paymentMethods...).Doc("Only orders that are paid this way."),
					field.Ref("plan", new(int64)).Doc("Only orders of this plan."),
					field.Int("tenant", new(int64)).Doc("Only orders whose service this tenant has, or had."),
				}
			},
			Search:   "order_number, customer_email, customer_name and domain",
			Ordering: []string{"order_number", "status", "total", "customer_email"}, UUIDs: true,
		}, s.listOrders).As("operator_order_list"),
		route.Get(orderPath, "An order with all that came of it", record.Found[orderDetail]).As("operator_order_read").
			Of("Order").Finding(s.findOrderFile),
		s.orderStream(),
		route.List(orderPath+"mails/", "The mails to the customer of an order", s.listMails).As("operator_order_mails").Of("Order").
			Failing(http.StatusNotFound, "There is no such order.").
			Saying(
				"The oldest first, written anew from the log in the brand of today. The secrets of their links are " +
					"left out. A customer who was erased has none.",
			),
		s.previewRoute(),
	}, s.orderActions()...)
}

func (s *orders) listOrders(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[projections.Order], error) {
	for _, f := range l.Filters {
		id, isPlan := f.Value.(int64)
		if f.Field != "plan" || !isPlan {
			continue
		}
		if _, err := s.callers.Scope(c).Orders().Plan(ctx, id); record.IsMissing(err) {
			return projections.Listed[projections.Order]{}, field.Errors{{Field: "plan", Messages: []string{field.NoSuchChoice}}}
		} else if err != nil {
			return projections.Listed[projections.Order]{}, err
		}
	}
	return s.callers.Scope(c).Orders().OrdersListed(ctx, l)
}

func (s *orders) orderFile(ctx context.Context, c route.Call, id uuid.UUID) (*orderDetail, error) {
	file, err := s.callers.Scope(c).Orders().OrderFile(ctx, id)
	if err != nil {
		return nil, err
	}
	detail, err := s.details.OrderDetail(ctx, id)
	if err != nil {
		return nil, err
	}
	return newOrderDetail(file, detail), nil
}

func (s *orders) findOrderFile(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.orderFile(ctx, c, c.UUID("uuid")))
}
