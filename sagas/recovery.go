package sagas

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/recovery"
)

// A panel that was restored may have done more outside than it knows. It claims no work
// that reaches outside until an operator ends the recovery mode. Later each effect is
// looked up before it is done, with or without an intent (docs/backup.md, "Recovery
// mode"; rule G-14).

// BeginRecovery puts what was restored, up to an event of the log, into the mode. All
// leases are taken away: the tokens go beyond all that a process may still hold.
func BeginRecovery(ctx context.Context, tx pgx.Tx, head int64, reason string) error {
	if err := recovery.Begin(ctx, tx, head, reason); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `
		update saga_run set status = case status when 'running' then 'ready' else status end,
			lease_token = lease_token + 1000, lease_until = null, worker = null;
		update payment_watch set lease_until = null, lease_token = lease_token + 1000;
		update task set lease_until = null, lease_token = nextval('task_lease');
		update saga_queue set fails = 0, open_until = null`)
	if err != nil {
		return fmt.Errorf("take away the leases: %w", err)
	}
	return nil
}

// Released are the rows that end the recovery mode: no token of before is good any more,
// and all that is watched outside is due.
func Released() []eventstore.TxStatement {
	rows := []eventstore.TxStatement{recovery.Ended()}
	for table, change := range map[string]string{
		"saga_run":           `lease_token = lease_token + 1000 where status not in ('done', 'undone')`,
		"payment_watch":      `next_at = business_now(), lease_until = null, lease_token = lease_token + 1000`,
		"webhook_inbox":      `state = 'stored', attempts = 0, next_at = business_now() where state in ('stored', 'unmatched')`,
		"engine_comparison":  `tenant = 0, began_at = business_now(), next_at = business_now()`,
		"task":               `next_at = business_now(), lease_until = null, lease_token = nextval('task_lease')`,
		"tenant_usage":       `next_at = business_now()`,
		"machine_usage":      `next_at = business_now()`,
		"installation":       `takes_over = true`,
		"saga_daily":         `at = '-infinity'`,
		"machine_comparison": `next_at = business_now()`,
	} {
		rows = append(rows, eventstore.TxStatement{Key: table, SQL: `update ` + table + ` set ` + change, WantRows: eventstore.AnyRows})
	}
	return rows
}

// EndRecovery ends the recovery mode when an operator has settled its incident. A second
// time it changes nothing.
func (s *Runner) EndRecovery(ctx context.Context, r eventstore.RecordedEvent) error {
	if _, settled := r.Event.(operations.IncidentSettled); !settled {
		return nil
	}
	mode, err := recovery.Read(ctx, s.pool)
	if err != nil || !mode.On() || r.Stream != operations.IncidentStream(operations.RecoveryTrouble(mode.Number).ID()) {
		return err
	}
	_, err = s.store.ExecuteWith(ctx, domain.Metadata{Actor: IncidentReporter}, Released())
	if err != nil && !errors.Is(err, recovery.ErrOff) {
		return err
	}
	s.log.WarnContext(ctx, "the recovery mode has ended", "recovery", mode.Number)
	s.all()
	return nil
}

// InRecovery tells whether the panel keeps from reaching outside.
func (s *Runner) InRecovery(ctx context.Context) (bool, error) {
	mode, err := recovery.Read(ctx, s.pool)
	return mode.On(), err
}

// KeepRecovery refuses what would reach outside in the recovery mode, with
// [recovery.ErrOn].
func (s *Runner) KeepRecovery(ctx context.Context) error { return recovery.Keep(ctx, s.pool) }

// restoredCode is that of an effect without a look-up that a restored run may have done.
const restoredCode = "restored"

var errRestored = domain.Fail(
	domain.Permanent, restoredCode,
	errors.New("it may have been done before the panel was restored, and no look-up can tell"),
)

// recovered is what is known of an effect in a panel that was restored: without an
// answer in the ledger it may have been done all the same. One that can be looked up
// gets its intent first, which claims its object. Nothing was sent from here, so no
// quarantine applies.
func (s *executor) recovered(ctx context.Context, c claimed, step step, call Call, key string, known LedgerEntry) (LedgerEntry, error) {
	switch {
	case call.Repeatable || !c.restored && !c.looksFirst:
		return known, nil
	case call.Lookup == nil && c.restored:
		return known, errRestored
	case call.Lookup == nil || known.State != "":
		return known, nil
	}
	if err := s.intend(ctx, c, step, key, call); err != nil {
		return known, err
	}
	return LedgerEntry{State: EffectAbsent}, nil
}
