package eventstore

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Writers of all processes take one lock before they draw positions, and keep it to the
// commit. So positions are contiguous and become visible in order, and no reader skips
// an event that is committed late (docs/log.md, "Writers take turns").

const lockWriters = `select pg_advisory_xact_lock(4801223014)`

// queueLocks queues the rows, the writers' lock and the check of the keys.
func queueLocks(b *pgx.Batch, group []*groupMember) {
	queueRows(b, group)
	if slices.ContainsFunc(group, func(p *groupMember) bool { return len(p.events) > 0 }) {
		b.Queue(lockWriters)
		queueKeys(b, group)
	}
}

// LockWriters makes all writers of the log wait until tx ends. Until then tx sees
// the whole log, and no event can be added.
func LockWriters(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, lockWriters)
	return err
}
