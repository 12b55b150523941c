package orders

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// How many of these may be open with one key, and from one address.
const orderStreamsOfKey, orderStreamsOfAddress = 200, 20

func (s *Area) orderStream() route.Route {
	perAddress := 0
	if s.Abuse {
		perAddress = orderStreamsOfAddress
	}
	return route.Stream[projections.OrderView](ordersPath+"{order_id:uuid}/events/", "How an order stands, as it happens", s.followOrder).
		As("order_events").Of("Order").AtMost(orderStreamsOfKey, perAddress).OrWith(http.StatusNoContent).
		Saying("Events: order, as GET of the order shows it, at once and whenever that changes. The stream ends when "+
			"the order is active, cancelled or refunded; a client that comes back then, having seen it, is answered with 204.").
		Failing(http.StatusNotFound, "There is no such order for this key.")
}

// An orderFollowing tells how an order stands.
type orderFollowing struct {
	route.LiveEvents
	area    *Area
	last    []byte // as it was told; nil: not yet
	heard   int    // up to which version of the order
	resumes bool   // for a client that has received it before
}

func (s *Area) followOrder(ctx context.Context, c route.Call, after int64) (route.Following, error) {
	view, err := s.orderView(ctx, c)
	if err != nil {
		return nil, err
	}
	l, err := s.Feed.Listen(ctx, after, order.Stream(view.ID), s.Runs.Stream(view.ID))
	if err != nil {
		return nil, err
	}
	f := &orderFollowing{LiveEvents: l, area: s, resumes: after != route.FromNow && !l.Lost()}
	if !f.resumes || !isSettled(view.Status) {
		return f, nil
	}
	facts, _, err := l.Take(ctx)
	if err != nil || len(facts) == 0 { // its end has been told
		l.Close()
		return nil, err
	}
	f.hear(facts)
	return f, nil
}

// hear remembers how much of the order's history has come.
func (f *orderFollowing) hear(facts []domain.LiveEvent) {
	for _, h := range facts {
		if h.Stream.Category == order.Category {
			f.heard = max(f.heard, h.Version)
		}
	}
}

// isAhead tells whether an order is shown before its events have come, which
// they will in a moment. Until then it is not told: under the position that was
// reached so far, a client that reconnects would receive it a second time.
func (f *orderFollowing) isAhead(view *projections.OrderView) bool {
	return view.Version > f.heard && (f.last != nil || f.resumes && isSettled(view.Status))
}

// isSettled tells whether an order is where its customer waits for it to be,
// or will not get there. A failed one is still worked on.
func isSettled(s order.Status) bool {
	return s == order.StatusActive || s == order.StatusCancelled || s == order.StatusRefunded
}

// Next shows the order if it looks different from what was told.
func (f *orderFollowing) Next(ctx context.Context, c route.Call) ([]route.Told, int64, error) {
	facts, at, err := f.Take(ctx)
	if err != nil || len(facts) == 0 && f.last != nil {
		return nil, at, err
	}
	f.hear(facts)
	view, err := f.area.orderView(ctx, c)
	if err != nil || f.isAhead(view) {
		return nil, at, err
	}
	f.heard = max(f.heard, view.Version)
	if isSettled(view.Status) {
		err = io.EOF
	}
	shown := view.Fields()
	body := shown.AppendJSON(nil)
	if bytes.Equal(body, f.last) {
		return nil, at, err
	}
	f.last = body
	return []route.Told{{Name: "order", Position: at, Body: shown}}, at, err
}
