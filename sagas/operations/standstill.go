package operations

import (
	"context"

	"hostpanel/domain/operations"
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
	lags, err := s.store.Lags(ctx)
	found.ReaderLags = map[string]int64{}
	for name, lag := range lags {
		found.ReaderLags[name] = lag.Events
	}
	return found, err
}
