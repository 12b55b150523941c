package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Change brings an object to what is wanted: the fields that o says have
// changed, or all of them if it says nothing. What is so already stays as it
// is. A record of another type, and an alias of another sort, get another
// number: look them up. One that is not there is a permanent failure,
// "absent"; one that is no longer what the panel knows is "drift".
func (e *Engine) Change(ctx context.Context, o hosting.EngineObject) error {
	return e.ordered.Around(ctx, faults.Call{Call: faults.Change, Kind: o.Kind, Name: o.Name}, func(f faults.Fault) error {
		return e.change(ctx, o, f)
	})
}

func (e *Engine) change(ctx context.Context, o hosting.EngineObject, f faults.Fault) error {
	rule, err := ruleOf(o.Kind)
	if err != nil {
		return err
	}
	hashes, err := hashed(&o)
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if rule.renames { // its new name's turn, before its own
			if _, err := tx.Exec(ctx, turn, o.Kind, o.Name); err != nil {
				return err
			}
		}
		return e.alter(ctx, tx, rule, o, hashes, f)
	})
	return unanswered("change", err)
}

func (e *Engine) alter(ctx context.Context, tx pgx.Tx, rule rule, o hosting.EngineObject, hashes map[string]string, f faults.Fault) error {
	before, err := locked(ctx, tx, o.Kind, o.ID, "update")
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s %d is not there", o.Kind, o.ID))
	}
	if err != nil {
		return err
	}
	if err := rule.known(ctx, tx, before, o); err != nil {
		return err
	}
	after := merged(before, o)
	if err := rule.admits(after); err != nil {
		return err
	}
	if same(before, after) && len(hashes) == 0 && !e.reordered(before, after) {
		return nil
	}
	parent, err := rule.parent(ctx, tx, after)
	if err != nil {
		return err
	}
	if after.Observed, err = rule.remark(after, parent); err != nil {
		return err
	}
	return e.update(ctx, tx, rule, before, after, hashes, f)
}

// known compares an object with the one that the panel means: its owner, our
// reference in it, and its name now or before the change.
func (r rule) known(ctx context.Context, tx pgx.Tx, before, o hosting.EngineObject) error {
	switch {
	case before.Owner != o.Owner, o.Kind == tenant && before.Ref != o.Ref:
		return drifted(o.Kind, o.ID)
	case before.Name == o.Name:
		return nil
	case !r.renames:
		return domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("a %s cannot get another name", o.Kind))
	case r.tellsFormer && before.Name != o.Former:
		return drifted(o.Kind, o.ID)
	}
	var taken bool
	err := tx.QueryRow(
		ctx,
		`select exists (select from sandbox_engine.objects where kind = $1 and name = $2 and gone_at > real_now())`,
		o.Kind, o.Name,
	).Scan(&taken)
	if err == nil && taken {
		err = r.occupied(o.Kind)
	}
	return err
}

// merged is what there was with what has changed.
func merged(before, o hosting.EngineObject) hosting.EngineObject {
	after := before
	after.Name, after.Secrets = o.Name, o.Secrets
	if len(o.Changed) == 0 {
		after.Values, after.Parents = o.Values, o.Parents
		return after
	}
	after.Values, after.Parents = maps.Clone(before.Values), maps.Clone(before.Parents)
	for _, field := range o.Changed {
		if value, told := o.Values[field]; told {
			after.Values[field] = value
		}
		delete(after.Parents, field)
		if parent, told := o.Parents[field]; told {
			after.Parents[field] = parent
		}
	}
	return after
}

func same(before, after hosting.EngineObject) bool {
	return before.Name == after.Name && maps.Equal(before.Parents, after.Parents) &&
		maps.EqualFunc(before.Values, after.Values, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })
}

func (e *Engine) update(
	ctx context.Context, tx pgx.Tx, rule rule, before, after hosting.EngineObject, hashes map[string]string,
	f faults.Fault,
) error {
	applied := e.delay
	if e.reordered(before, after) {
		applied = e.order(&after)
	}
	replaced := rule.replaced != nil && rule.replaced(before, after)
	if _, err := tx.Exec(ctx, `
		update sandbox_engine.objects set
			id = case when $3 then `+nextID+` else id end, name = $4, parents = $5, sent = $6, observed = $7,
			secrets = (secrets::jsonb || $8::jsonb)::json, applied_at = real_now() + $9::interval
		where kind = $1 and id = $2`,
		after.Kind, after.ID, replaced, after.Name, parentsOf(after), after.Values, after.Observed, hashes,
		applied+f.Lateness()); err != nil {
		return err
	}
	parts := partsOf(after.Kind)
	if parts == nil || before.Name == after.Name {
		return nil
	}
	_, err := tx.Exec(ctx, `
		update sandbox_engine.objects set name = $3 || substr(name, length($4) + 1)
		where kind = any($1) and `+ownedBy+` and (name = $4 or starts_with(name, $4 || '/'))`, parts, after.Owner, after.Name, before.Name)
	return err
}

// Remove deletes one object and nothing that lasts without it: what still has
// something that does stays ("owns_others"). An object that is no longer the
// panel's, by owner, name or our reference as far as o tells them, stays as
// well ("drift"). One that is gone is a success.
func (e *Engine) Remove(ctx context.Context, o hosting.EngineObject) error {
	return e.ordered.Around(ctx, faults.Call{Call: faults.Remove, Kind: o.Kind, Name: o.Name}, func(faults.Fault) error {
		rule, err := ruleOf(o.Kind)
		if err != nil {
			return err
		}
		if o.ID < 1 {
			return domain.Fail(domain.Permanent, "engine_call", fmt.Errorf("%d is no number of a %s", o.ID, o.Kind))
		}
		return unanswered("remove", pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error { return rule.remove(ctx, tx, o) }))
	})
}

func (r rule) remove(ctx context.Context, tx pgx.Tx, o hosting.EngineObject) error {
	have, err := locked(ctx, tx, o.Kind, o.ID, "update")
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case o.Owner != 0 && o.Owner != have.Owner, o.Ref != "" && o.Ref != have.Ref, o.Name != "" && o.Name != have.Name &&
		o.Former != have.Name:
		return drifted(o.Kind, o.ID)
	}
	kept, err := r.left(ctx, tx, have)
	if err == nil && kept != "" {
		err = domain.Fail(domain.Permanent, "owns_others", fmt.Errorf("%s %d still has a %s", o.Kind, o.ID, kept))
	}
	if err != nil {
		return err
	}
	return r.erase(ctx, tx, have)
}

// left names a kind of what would be left behind; "": none.
func (r rule) left(ctx context.Context, tx pgx.Tx, have hosting.EngineObject) (kind string, err error) {
	kinds := keptBy(have.Kind)
	if kinds == nil {
		return "", nil
	}
	belongs, args := `parents @> jsonb_build_object($3::text, $2::bigint)`, []any{kinds, have.ID, fieldOf(have.Kind)}
	if have.Kind == tenant {
		belongs, args = ownedBy, args[:2]
	}
	err = tx.QueryRow(
		ctx,
		`select coalesce(min(kind), '') from sandbox_engine.objects where kind = any($1) and gone_at > real_now() and `+belongs,
		args...,
	).Scan(&kind)
	return kind, err
}

// erase deletes an object with its parts; a database outlives its site.
func (r rule) erase(ctx context.Context, tx pgx.Tx, have hosting.EngineObject) error {
	last := &pgx.Batch{}
	if parts := partsOf(have.Kind); parts != nil {
		last.Queue(
			`delete from sandbox_engine.objects where kind = any($1) and `+ownedBy+` and (name = $3 or starts_with(name, $3 || '/'))`,
			parts, have.Owner, have.Name,
		)
	}
	if loose := kindsThat(func(_ string, r rule) bool { return r.loose && r.under == have.Kind }); loose != nil {
		last.Queue(`update sandbox_engine.objects set parents = parents - $2::text where kind = any($1)
			and parents @> jsonb_build_object($2::text, $3::bigint)`,
			loose, fieldOf(have.Kind), have.ID)
	}
	last.Queue(`delete from sandbox_engine.objects where kind = $1 and id = $2`, have.Kind, have.ID)
	return tx.SendBatch(ctx, last).Close()
}
