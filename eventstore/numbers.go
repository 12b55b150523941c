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
	rows, _ := tx.Query(ctx, `select quote_ident(kind || '_id') from unnest($1::text[]) kind where to_regclass(kind || '_id') is null`, kinds)
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
