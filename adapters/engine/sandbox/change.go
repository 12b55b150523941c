package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Change brings an object to what is wanted. One that is not there is a
// permanent failure, "absent"; one that belongs to somebody else is "drift".
func (e *Engine) Change(ctx context.Context, o hosting.EngineObject) error {
	rule, known := rules[o.Kind]
	if !known {
		return domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no %s", o.Kind))
	}
	if err := rule.check(o); err != nil {
		return domain.Fail(domain.Permanent, "invalid", err)
	}
	open, hashed, err := withoutPasswords(o.Values)
	if err != nil {
		return err
	}
	return e.ordered.Around(ctx, faults.Call{Call: faults.Create, Kind: o.Kind, Name: o.Name}, func(faults.Fault) error {
		return e.onObject(ctx, "change", o, func(tx pgx.Tx, there bool) error {
			if !there {
				return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s %d is not there", o.Kind, o.ID))
			}
			_, err := tx.Exec(ctx, `
				update sandbox_engine.objects set name = $3, sent = $4, secrets = (secrets::jsonb || $5::jsonb)::json, applied_at = now() + $6::interval
				where kind = $1 and id = $2`, o.Kind, o.ID, o.Name, open, hashed, e.delay)
			return err
		})
	})
}

// Remove deletes one object. One that is gone is a success; one that belongs
// to somebody else is "drift", and a client that still owns something
// "owns_others", because nothing is ever removed along with something else.
func (e *Engine) Remove(ctx context.Context, o hosting.EngineObject) error {
	return e.ordered.Around(ctx, faults.Call{Call: faults.Remove, Kind: o.Kind}, func(faults.Fault) error {
		return e.onObject(ctx, "remove", o, func(tx pgx.Tx, there bool) error {
			if !there {
				return nil
			}
			var owns bool
			err := tx.QueryRow(ctx, `select $1 = 'tenant' and exists (select from sandbox_engine.objects where owner = $2 and gone_at > now())`, o.Kind, o.ID).Scan(&owns)
			if err != nil {
				return err
			}
			if owns {
				return domain.Fail(domain.Permanent, "owns_others", errors.New("the client still owns objects"))
			}
			_, err = tx.Exec(ctx, `delete from sandbox_engine.objects where kind = $1 and id = $2`, o.Kind, o.ID)
			return err
		})
	})
}

// onObject takes the turn of an object and sees whether it is there and, as
// far as o tells the owner and our reference, whose it is.
func (e *Engine) onObject(ctx context.Context, call string, o hosting.EngineObject, do func(tx pgx.Tx, there bool) error) error {
	return unanswered(call, pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var owner int64
		var ref string
		err := tx.QueryRow(ctx, `select owner, ref from sandbox_engine.objects where kind = $1 and id = $2 and gone_at > now() for update`, o.Kind, o.ID).Scan(&owner, &ref)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return do(tx, false)
		case err != nil:
			return err
		case o.Owner != 0 && o.Owner != owner, o.Ref != "" && o.Ref != ref:
			return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s %d belongs to somebody else", o.Kind, o.ID))
		}
		return do(tx, true)
	}))
}

// List reads everything of a kind that a client owns; of the kind "tenant" it
// is the client itself.
func (e *Engine) List(ctx context.Context, kind string, owner int64) (all []hosting.EngineObject, err error) {
	err = e.ordered.Around(ctx, faults.Call{Call: faults.Find, Kind: kind}, func(faults.Fault) error {
		all, err = e.query(ctx, `where kind = $1 and (owner = $2 and $1 <> 'tenant' or id = $2 and $1 = 'tenant')
			and visible_at <= now() and gone_at > now() order by id`, kind, owner)
		return err
	})
	return all, err
}

// Usage is nothing for everything that could take room: a sandbox serves no
// files.
func (e *Engine) Usage(ctx context.Context, owner int64) (hosting.Usage, error) {
	u := hosting.Usage{ReadAt: time.Now(), Traffic: map[string]int64{}}
	for _, kind := range []string{"site", "mailbox", "database"} {
		all, err := e.List(ctx, kind, owner)
		if err != nil {
			return hosting.Usage{}, err
		}
		for _, o := range all {
			u.Storage = append(u.Storage, hosting.Measure{Kind: kind, Name: o.Name, Bytes: new(int64)})
		}
	}
	return u, nil
}
