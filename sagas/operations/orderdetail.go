package operations

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// detailMost limits how much of an order's history is read.
const detailMost = 2000

// OrderDetail reads all that is known of an order besides the order itself, in
// a fixed number of round trips.
func (s *Service) OrderDetail(ctx context.Context, id uuid.UUID) (d operations.OrderDetail, err error) {
	if d.Runs, err = s.runner.Operators.Runs(ctx, sagas.RunFilter{Order: id, Limit: 100}); err != nil {
		return d, err
	}
	slices.SortFunc(d.Runs, func(a, b sagas.RunView) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Key, b.Key))
	})
	if d.Webhooks, err = s.webhooks(ctx, operations.WebhookPick{Order: id, Limit: detailMost}); err != nil {
		return d, err
	}
	slices.Reverse(d.Webhooks)
	err = s.pool.QueryRow(ctx, `select coalesce(max((input ->> 'user')::bigint), 0) from saga_run
		where key = 'provision:' || $1 and step > 0`, id.String()).
		Scan(&d.User)
	if err != nil {
		return d, sagas.SQLError(err, "look for the customer of order %s", id)
	}
	d.Events, err = s.history(ctx, id, d.Runs)
	return d, err
}

// history are the events about an order, its runs, and its billing.
func (s *Service) history(ctx context.Context, id uuid.UUID, runs []operations.Run) ([]operations.RecordedEvent, error) {
	streams := []domain.Stream{
		order.Stream(id), operations.ReviewStream(id),
		{Category: billing.SubscriptionCategory, ID: id.String()},
		{Category: billing.InvoiceCategory, ID: id.String()},
	}
	for _, r := range runs {
		streams = append(streams, r.Stream())
	}
	history, err := s.store.Reader().ReadStreams(ctx, detailMost, streams...)
	events := make([]operations.RecordedEvent, len(history))
	for i, r := range history {
		events[i] = operations.RecordedEvent{
			Position: r.Position, Stream: r.Stream, RecordedAt: r.RecordedAt, Name: r.Name, Actor: r.Metadata.Actor, Event: r.Event,
		}
	}
	return events, err
}
