package audit

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// found selects the positions that a filter lets through, the newest first.
const found = `
	select position from log_index
	where ($1 = 0 or position < $1) and ($2 = '' or name = $2) and ($3 = '' or stream = $3) and ($4 = 0 or tenant = $4)
		and ($5 = '' or actor = $5)
		and ($6::uuid is null or correlation = $6) and ($7::timestamptz is null or recorded_at >= $7)
			and ($8::timestamptz is null or recorded_at <= $8)
	order by position desc limit $9`

// Search returns the events that a filter lets through, the newest first. It finds
// what the index holds.
func (s *Service) Search(ctx context.Context, who projections.Caller, f audit.Filter) (audit.Found, error) {
	tenant := f.Tenant
	if !who.SeesAll() {
		if f.Tenant != 0 && f.Tenant != who.Tenant || who.Tenant == 0 {
			return audit.Found{}, nil
		}
		tenant = who.Tenant
	}
	until, err := s.indexedUntil(ctx)
	if err != nil {
		return audit.Found{}, err
	}
	rows, _ := s.pool.Query(
		ctx, found, f.Before, f.Type, f.Stream, tenant, f.Actor, domain.OrNull(f.Correlation), domain.OrNull(f.From),
		domain.OrNull(f.To), f.Limit+1,
	)
	positions, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return audit.Found{}, sagas.SQLError(err, "search the log")
	}
	all := audit.Found{Until: until}
	if len(positions) > f.Limit {
		positions = positions[:f.Limit]
		all.Next = positions[f.Limit-1]
	}
	all.Events, err = s.at(ctx, who, positions)
	return all, err
}

// at shows the events at positions, the newest first.
func (s *Service) at(ctx context.Context, who projections.Caller, positions []int64) ([]audit.Event, error) {
	history, err := s.store.Reader().Afresh().AtPositions(ctx, positions)
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, who, history)
	s.Looked(ctx, who, namesOf(shown...)...)
	slices.SortFunc(shown, func(a, b audit.Event) int { return cmp.Compare(b.Position, a.Position) })
	return shown, err
}

// indexedUntil is the position up to which the log is in the index.
func (s *Service) indexedUntil(ctx context.Context) (position int64, err error) {
	err = s.pool.QueryRow(ctx, `select coalesce((select position from readers where name = $1), 0)`, IndexReader).Scan(&position)
	return position, sagas.SQLError(err, "read how far the index of the log is")
}
