package sandbox

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain/hosting"
)

// Usage is what has been measured of a client's objects ([Engine.Measure];
// before that, nothing is used). A site that is off has no traffic at all.
func (e *Engine) Usage(ctx context.Context, owner int64) (u hosting.Usage, err error) {
	err = e.ordered.Around(ctx, faults.Call{Call: faults.List, Kind: "usage"}, func(faults.Fault) error {
		if err := e.knows(ctx, owner); err != nil {
			return err
		}
		u, err = e.usage(ctx, owner)
		return unanswered("measure", err)
	})
	return u, err
}

func (e *Engine) usage(ctx context.Context, owner int64) (hosting.Usage, error) {
	u := hosting.Usage{ReadAt: e.now(), Traffic: map[string]int64{}}
	rows, err := e.pool.Query(ctx, `
		select kind, name, used, traffic, coalesce(sent ->> 'is_active', 'true') <> 'false'
		from sandbox_engine.objects
		where kind = any($1) and `+ownedBy+` and visible_at <= real_now() and gone_at > real_now() order by id`,
		kindsThat(func(_ string, r rule) bool { return r.storage }), owner)
	if err != nil {
		return u, err
	}
	var m hosting.Measure
	var used, traffic int64
	var on bool
	_, err = pgx.ForEachRow(rows, []any{&m.Kind, &m.Name, &used, &traffic, &on}, func() error {
		bytes := used
		u.Storage = append(u.Storage, hosting.Measure{Kind: m.Kind, Name: m.Name, Bytes: &bytes})
		if rules[m.Kind].traffic && on {
			u.Traffic[m.Name] = traffic
		}
		return nil
	})
	return u, err
}
