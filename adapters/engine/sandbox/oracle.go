package sandbox

import (
	"context"
	"fmt"

	"hostpanel/domain/hosting"
)

// Created tells how often an object of this name has really been created, no
// matter what the caller was told and whether it is still there.
func (e *Engine) Created(ctx context.Context, kind, name string) (times int, err error) {
	err = e.pool.QueryRow(ctx, `select count(*) from sandbox_engine.creations where kind = $1 and name = $2`, kind, name).Scan(&times)
	if err != nil {
		return 0, fmt.Errorf("count the creations of a %s: %w", kind, err)
	}
	return times, nil
}

// CreatedFor tells the same by our reference.
func (e *Engine) CreatedFor(ctx context.Context, kind, ref string) (times int, err error) {
	err = e.pool.QueryRow(ctx, `select count(*) from sandbox_engine.creations where kind = $1 and ref = $2`, kind, ref).Scan(&times)
	if err != nil {
		return 0, fmt.Errorf("count the creations of a %s: %w", kind, err)
	}
	return times, nil
}

// Objects lists what the engine really has of a kind, by number, seen by
// look-ups or not.
func (e *Engine) Objects(ctx context.Context, kind string) ([]hosting.EngineObject, error) {
	return e.query(ctx, `where kind = $1 and gone_at > real_now() order by id`, kind)
}

// Accepts tells whether a secret is the one that was handed over with an
// object, by what is kept of it.
func (e *Engine) Accepts(ctx context.Context, kind, name, secret, value string) (bool, error) {
	var kept string
	err := e.pool.QueryRow(ctx, `select coalesce(secrets ->> $3, '') from sandbox_engine.objects where kind = $1
		and name = $2 and gone_at > real_now()`, kind, name, secret).Scan(&kept)
	if err != nil {
		return false, fmt.Errorf("try the %s of a %s: %w", secret, kind, err)
	}
	return opens(kept, value), nil
}

// Measure says what an object uses from now on: bytes stored, and bytes of
// traffic this month.
func (e *Engine) Measure(ctx context.Context, kind, name string, used, traffic int64) error {
	_, err := e.pool.Exec(
		ctx, `update sandbox_engine.objects set used = $3, traffic = $4 where kind = $1 and name = $2`, kind, name,
		used, traffic,
	)
	if err != nil {
		return fmt.Errorf("measure a %s: %w", kind, err)
	}
	return nil
}
