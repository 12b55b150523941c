package projections

import (
	"context"
	"time"
)

// All are the read tables of the program, a file each.
var All = Set{plans, widgets, apiKeys, users, orders, names, resources, operations, subscriptions, notifications, incidents, webhooks}

// A State tells operators how a read table stands. A live one changes with the
// log, so its position is always that of the head.
type State struct {
	Name      string
	Status    string // live, rebuilding, failed
	Position  int64  // of the last event that it knows
	Head      int64  // of the log
	UpdatedAt time.Time
}

// States lists the read tables to operators.
func (s OperationsReader) States(ctx context.Context) ([]State, error) {
	return list[State](ctx, s, `
		select name, status, case when status = 'live' then head else position end as position, head,
			case when status = 'live' then greatest(at, updated_at) else updated_at end as updated_at
		from projections, (select coalesce(max(position), 0) as head, max(recorded_at) as at
			from (select position, recorded_at from events order by position desc limit 1) last) log`, s.operators(), " order by name")
}
