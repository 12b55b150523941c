package eventstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/hosting"
)

// numberKinds makes a sequence for each kind of hosting resources that has none
// yet ([Store.NextIDs]), so that a new kind needs no migration.
func numberKinds(ctx context.Context, tx pgx.Tx) error {
	var kinds []string
	for _, kind := range hosting.Kinds {
		kinds = append(kinds, kind.Name)
	}
	rows, _ := tx.Query(
		ctx, `select quote_ident(kind || '_id') from unnest($1::text[]) kind where to_regclass(kind || '_id') is null`,
		kinds,
	)
	missing, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for the sequences of hosting kinds: %w", err)
	}
	for _, name := range missing {
		if _, err := tx.Exec(ctx, `create sequence `+name+`; grant usage on sequence `+name+` to hostpanel_app`); err != nil {
			return fmt.Errorf("make the sequence %s: %w", name, err)
		}
	}
	return nil
}

// UpcomingIDs are the ids that NextIDs would draw now. Nothing is drawn.
func (s *Store) UpcomingIDs(ctx context.Context, names ...string) ([]int64, error) {
	rows, _ := s.pool.Query(ctx, `select coalesce(pg_sequence_last_value((name || '_id')::regclass), 0) + 1
		from unnest($1::text[]) with ordinality as n(name, i) order by i`, names)
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("look at the next numbers for %v: %w", names, Unavailable(err))
	}
	return ids, nil
}

// NextIDs draws ids for new records, one for each name: a kind of hosting
// resources, user, plan, widget or webhook_endpoint. Unused ids leave gaps.
func (s *Store) NextIDs(ctx context.Context, names ...string) ([]int64, error) {
	ids := make([]int64, 0, len(names))
	rows, _ := s.pool.Query(ctx, `select nextval((name || '_id')::regclass)
		from unnest($1::text[]) with ordinality as n(name, i) order by i`, names)
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("draw numbers for %v: %w", names, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("draw numbers for %v: %w", names, Unavailable(err))
	}
	return ids, nil
}
