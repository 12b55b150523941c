package main

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	panel "hostpanel/http"
	"hostpanel/sagas"
)

// happenings let the API follow what happens to notifications, orders and
// their runs.
type happenings struct{ *eventstore.Tail }

func happeningsOf(s *eventstore.Store) happenings {
	return happenings{eventstore.NewTail(s, notice.Heard, notice.Facts, order.Facts, sagas.Facts)}
}

// Listen tells everything about the topics behind a position, and then what
// happens.
func (h happenings) Listen(ctx context.Context, after int64, topics ...domain.Stream) (panel.Listener, error) {
	l, err := h.Tail.Listen(ctx, after, topics...)
	if err != nil {
		return nil, err
	}
	return l, nil
}
