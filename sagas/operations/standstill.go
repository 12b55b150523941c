package operations

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// Standstill is what does not go on by itself, and how far the readers of the log
// are behind.
func (s *Service) Standstill(ctx context.Context) (found operations.Standstill, err error) {
	err = s.pool.QueryRow(ctx, `
		select
			(select count(*) from saga_run where status = 'parked'),
			(select count(*) from saga_run where status in ('ready', 'waiting') and attempt > 0 and key like 'mail:%'),
			(select count(*) from webhook_inbox where state = 'unmatched'),
			(select count(*) from webhook_inbox where state = 'parked')`).
		Scan(&found.ParkedRuns, &found.FailingMails, &found.UnmatchedWebhooks, &found.ParkedWebhooks)
	if err != nil {
		return found, sagas.SQLError(err, "count what stands still")
	}
	lags, err := s.store.Reader().Lags(ctx)
	found.ReaderLags = map[string]int64{}
	for name, lag := range lags {
		found.ReaderLags[name] = lag.Events
	}
	return found, err
}

// Readers are the readers of the log, by name, and how far each is.
func (s *Service) Readers(ctx context.Context) ([]operations.LogReader, error) {
	stuck, err := s.StuckReaders(ctx)
	if err != nil {
		return nil, err
	}
	rows, _ := s.pool.Query(ctx, `select name, position, greatest((select coalesce(max(position), 0)
		from events) - position, 0), false from readers order by name`)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[operations.LogReader])
	for i := range all {
		all[i].IsStuck = slices.ContainsFunc(stuck, func(r eventstore.StuckReader) bool { return r.Name == all[i].Name })
	}
	return all, sagas.SQLError(err, "read how far the readers of the log are")
}
