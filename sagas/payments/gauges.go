package payments

import (
	"context"
	"time"

	"hostpanel/sagas"
)

// Gauges are figures of payments and webhooks.
type Gauges struct {
	InboxStored int64
	InboxAge    time.Duration // of the oldest webhook that has not been handled
	Unmatched   int64
	Held        int64 // orders that an operator has to look at

	// Since this process started.
	Checked  int64 // orders looked at
	Rejected int64 // webhooks that were not authentic
}

// Gauges reads the present figures.
func (s *Service) Gauges(ctx context.Context) (g Gauges, err error) {
	var inbox float64
	err = s.pool.QueryRow(ctx, `
		select
			(select count(*) from webhook_inbox where state = 'stored'),
			(select coalesce(extract(epoch from business_now() - min(received_at)), 0)::float8 from webhook_inbox where state = 'stored'),
			(select count(*) from webhook_inbox where state = 'unmatched'),
			(select count(*) from orders where holds <> '{}')`).
		Scan(&g.InboxStored, &inbox, &g.Unmatched, &g.Held)
	g.InboxAge = sagas.Seconds(inbox)
	g.Checked, g.Rejected = s.checked.Load(), s.rejected.Load()
	return g, sagas.SQLError(err, "read the gauges of payments")
}
