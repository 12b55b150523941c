package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// A hint makes a check of an order due at once (docs/sagas.md, "Watch").

// Hint makes a check of an order due at once: the return page, an operator or
// a webhook had news. Any caller may send any number of hints.
func (s *Service) Hint(ctx context.Context, id uuid.UUID, reason string) error {
	n, err := s.runner.Exec(ctx, "hint at an order", `
		update payment_watch w set `+hinted("$2", "$3")+` where order_id = $1`, id, reason, s.store.StoredCause(ctx))
	if err == nil && n == 0 {
		if _, err = orderOf(ctx, s.tables, id); err == nil {
			row := hintRow(id, reason, s.store.StoredCause(ctx))
			_, err = s.runner.Exec(ctx, "hint at an order", row.SQL, row.Args...)
		}
	}
	if err == nil {
		s.runner.Wake(watchQueue)
	}
	return err
}

// hinted is how a hint makes the row w of an order due. The check has the cause
// of the hint that came first, unless that one is being checked already.
func hinted(reason, cause string) string {
	return `next_at = least(w.next_at, business_now()), wakes = w.wakes + 1, reason = ` + reason + `,
		cause = case when w.lease_until >= real_now() then ` + cause + ` else coalesce(w.cause, ` + cause + `) end`
}

// hintRow makes a check of an order due at once, even if it has no watch row.
func hintRow(id uuid.UUID, reason string, cause any) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "payment_watch/" + id.String(),
		SQL: `insert into payment_watch as w (order_id, provider, reason, next_at, cause) select id, payment_method, $2,
			business_now(), $3 from orders where id = $1
			on conflict (order_id) do update set ` + hinted("excluded.reason", "excluded.cause"),
		Args: []any{id, reason, cause}, WantRows: 1,
	}
}

// Recheck makes a check of an order due at once, on an operator's request.
func (s *Service) Recheck(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if _, err := orderOf(ctx, s.tables, id); err != nil {
		return err
	}
	_, err := s.store.ExecuteWith(ctx, sagas.ByOperator(cause, id), []eventstore.TxStatement{hintRow(id, "operator", eventstore.TheCause)},
		operations.NoteReview{Order: id, Event: operations.RecheckRequested{Reason: reason, At: s.runner.Now()}})
	if err == nil {
		s.runner.Wake(watchQueue)
	}
	return err
}

// watchPending makes the watch row of an order that was placed, with the moment of its
// first check. Without a session the order expires after a while (rule T4).
func watchPending(ctx context.Context, runner *sagas.Runner, id uuid.UUID, provider string, next time.Time) error {
	_, err := runner.Exec(ctx, "watch an order", `
		insert into payment_watch (order_id, provider, reason, next_at) values ($1, $2, 'placed', $3) on conflict do nothing`,
		id, provider, next)
	return err
}

// checkSoon makes a check of an order due at once, in the transaction that
// completes a step.
func checkSoon(id uuid.UUID, reason string) sagas.Work {
	return sagas.Work{
		Rows: []eventstore.TxStatement{{
			Key:  "payment_watch/" + id.String(),
			SQL:  `update payment_watch w set ` + hinted("$2", "$3") + ` where order_id = $1`,
			Args: []any{id, reason, eventstore.TheCause}, WantRows: eventstore.AnyRows,
		}},
		Wakes: watchQueue,
	}
}
