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
	return e.query(ctx, `where kind = $1 and gone_at > now() order by id`, kind)
}
