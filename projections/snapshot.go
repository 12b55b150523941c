package projections

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore"
)

// Snapshot lets read see the tables as they are at one moment, whatever is written
// meanwhile (isolation level repeatable read). The scope holds a connection, and ends with
// read.
func (t *Tables) Snapshot(ctx context.Context, c Caller, read func(Scope) error) error {
	tx, err := t.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin a snapshot: %w", eventstore.Unavailable(err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	return read(scopeOver(reader{pool: tx, caller: c}))
}
