// Package recovery keeps the recovery mode of a panel that was restored: nothing reaches
// outside until an operator ends it (docs/backup.md, "Recovery mode").
package recovery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// A Mode is the last recovery of a panel. The zero one: it was never restored.
type Mode struct {
	Number  int
	BeganAt time.Time
	Head    int64 // last event that was restored
	Reason  string
	IsReady bool       // false: the restore has not ended
	EndedAt *time.Time // nil: the mode is on
}

// On tells whether the panel keeps from reaching outside.
func (m Mode) On() bool { return m.Number > 0 && m.EndedAt == nil }

// ErrUnfinished means that a restore was cut off.
var ErrUnfinished = errors.New(`the restore of this database did not come to its end: run "hostpanel restore" again, which begins anew`)

// ErrOff refuses to end a mode that is not on.
var ErrOff = &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The panel is not in recovery mode."}

// ErrOn refuses what would reach outside while the mode is on.
var ErrOn = &domain.Error{
	Code: domain.Unavailable, Reason: "recovery_mode",
	Message: "The panel is being recovered. Please try again later.",
}

type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Read reads the mode.
func Read(ctx context.Context, db queryer) (Mode, error) {
	rows, err := db.Query(ctx, `select number, began_at, head, reason, is_ready, ended_at from recovery order by number desc limit 1`)
	if err != nil {
		return Mode{}, fmt.Errorf("read the recovery mode: %w", eventstore.Unavailable(err))
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Mode])
	if errors.Is(err, pgx.ErrNoRows) {
		return Mode{}, nil
	}
	if err != nil {
		return m, fmt.Errorf("read the recovery mode: %w", eventstore.Unavailable(err))
	}
	return m, nil
}

// Keep refuses what would reach outside while the mode is on, with [ErrOn].
func Keep(ctx context.Context, db queryer) error {
	m, err := Read(ctx, db)
	if err == nil && m.On() {
		err = ErrOn
	}
	return err
}

type execer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Begin puts the panel into the mode, in the transaction that restores it. It is not
// ready until [Ready].
func Begin(ctx context.Context, tx execer, head int64, reason string) error {
	_, err := tx.Exec(ctx, `update recovery set ended_at = real_now() where ended_at is null`)
	if err == nil {
		_, err = tx.Exec(
			ctx,
			`insert into recovery (number, head, reason) select coalesce(max(number), 0) + 1, $1, $2 from recovery`,
			head, reason,
		)
	}
	if err != nil {
		return fmt.Errorf("begin the recovery mode: %w", err)
	}
	return nil
}

// Ready says that the restore has ended: programs may work here, and the mode is on.
func Ready(ctx context.Context, db execer) error {
	if _, err := db.Exec(ctx, `update recovery set is_ready = true where not is_ready`); err != nil {
		return fmt.Errorf("end the restore: %w", eventstore.Unavailable(err))
	}
	return nil
}

// CheckFinished refuses, with [ErrUnfinished], a database whose restore was cut off: what
// would be served is neither checked nor free of what was erased.
func CheckFinished(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return eventstore.Unavailable(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `select set_config('`+eventstore.ForUser+`', '`+eventstore.Everybody+`', false)`); err != nil {
		return eventstore.Unavailable(err)
	}
	var isThere bool
	if err := conn.QueryRow(ctx, `select to_regclass('public.recovery') is not null`).Scan(&isThere); err != nil || !isThere {
		return eventstore.Unavailable(err) // an older program's, or none
	}
	mode, err := Read(ctx, conn)
	if err == nil && mode.On() && !mode.IsReady {
		err = ErrUnfinished
	}
	return err
}

// Ended is the row that ends the mode.
func Ended() eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "recovery", SQL: `update recovery set ended_at = real_now() where ended_at is null and is_ready`,
		WantRows: 1, ErrIfNot: ErrOff,
	}
}
