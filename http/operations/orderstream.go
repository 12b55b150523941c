package operations

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// OrderRuns are the runs that set orders up.
type OrderRuns interface {
	// Stream is where the run of an order is written down.
	Stream(order uuid.UUID) domain.Stream
}

// orderStreams is the number of these streams that an operator may have open.
const orderStreams = 20

func (s *orders) orderStream() route.Route {
	return route.Stream[projections.Order](orderPath+"events/", "What becomes of an order, as it happens", s.followOrder).
		As("operator_order_events").Of("Order").AtMost(orderStreams, 0).
		Saying("Events: order, as the list shows it, at once and after each event of the order, of its setup, "+
			"and of what operators have asked for. What a reader shows of the order is then to be read anew.").
		Failing(http.StatusNotFound, "There is no such order.")
}

// orderStreamOf is the address of the stream of an order, for its page.
func orderStreamOf(id uuid.UUID) string { return ordersPath + id.String() + "/events/" }

// An orderFeed tells operators what becomes of an order.
type orderFeed struct {
	route.LiveEvents
	server *orders
	begun  bool // it was told how the order stands
}

func (s *orders) followOrder(ctx context.Context, c route.Call, after int64) (route.Following, error) {
	id := c.UUID("uuid")
	if _, err := s.callers.Scope(c).Orders().OrderFile(ctx, id); err != nil {
		return nil, err
	}
	l, err := s.feed.Listen(ctx, after, order.Stream(id), s.runs.Stream(id), operations.ReviewStream(id))
	if err != nil {
		return nil, err
	}
	return &orderFeed{LiveEvents: l, server: s}, nil
}

// Next shows the order in its present state, however many events led to it.
func (f *orderFeed) Next(ctx context.Context, c route.Call) ([]route.Told, int64, error) {
	facts, at, err := f.Take(ctx)
	if err != nil || len(facts) == 0 && f.begun {
		return nil, at, err
	}
	file, err := f.server.callers.Scope(c).Orders().OrderFile(ctx, c.UUID("uuid"))
	if err != nil {
		return nil, at, err
	}
	f.begun = true
	return []route.Told{{Name: "order", Position: at, Body: file.Fields()}}, at, nil
}
