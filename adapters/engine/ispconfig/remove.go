package ispconfig

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Remove deletes one object, and nothing that belongs to it: what still owns
// something stays (permanent, "owns_others"). A row that is no longer the
// object's, by owner, name or our reference as far as o tells them, stays as
// well ("drift"). One that is gone is a success.
func (e *Engine) Remove(ctx context.Context, o hosting.EngineObject) error {
	r, err := resourceOf(o.Kind)
	if err != nil {
		return err
	}
	if r.apart != nil {
		return r.apart.remove(ctx, e, o)
	}
	if o.ID < 1 {
		return badID(o.Kind, o.ID)
	}
	if err := e.survey.writable(ctx); err != nil {
		return err
	}
	have, present, err := e.api.get(ctx, r, o.ID)
	if err == nil && !present && r.remains != nil {
		return r.remains(ctx, e, o)
	}
	if err != nil || !present {
		return err
	}
	if err := e.complete(ctx, r, &o, have); err != nil {
		return err
	}
	w := &wish{EngineObject: o, server: have.number("server_id")}
	release, err := e.take(ctx, r.allTurns(w)...)
	if err != nil {
		return err
	}
	defer release()
	return e.remove(ctx, r, o)
}

// complete compares a row with what is known of the object, and learns the
// rest from the row.
func (e *Engine) complete(ctx context.Context, r *resource, o *hosting.EngineObject, have row) error {
	if r == &clients {
		if o.Ref != "" && !e.api.refers(have["customer_no"], o.Ref) || o.Name != "" && !hosting.IsLogin(have["username"], o.Name) {
			return drifted(r.kind, o.ID)
		}
		o.Ref, o.Name = e.api.ownReference(have["customer_no"]), have["username"]
		return nil
	}
	if err := e.origin(ctx, r, have); err != nil {
		return err
	}
	owner, err := e.owners.ownerOf(ctx, have.number("sys_groupid"))
	switch name := r.name(have); {
	case err != nil:
		return err
	case owner == 0, o.Owner != 0 && o.Owner != owner, o.Name != "" && o.Name != name && !r.isWithin(have, o.Parents):
		return drifted(r.kind, o.ID)
	default:
		o.Owner, o.Name = owner, name
	}
	return nil
}

// origin tells a record's row the zone that it is in.
func (e *Engine) origin(ctx context.Context, r *resource, have row) error {
	if r != &records {
		return nil
	}
	zone, present, err := e.api.get(ctx, &zones, have.number("zone"))
	if present {
		have["origin"] = zone["origin"]
	}
	return err
}

// remove looks once more, now that no other process writes.
func (e *Engine) remove(ctx context.Context, r *resource, o hosting.EngineObject) error {
	have, present, err := e.api.get(ctx, r, o.ID)
	if err != nil || !present {
		return err
	}
	if err := e.complete(ctx, r, &o, have); err != nil {
		return err
	}
	if missing, err := mending(e).lacks(ctx, r, have); err != nil {
		return err
	} else if missing && r.remade {
		if err := e.makers.over(r, have, e.api.Now()); err != nil {
			return err
		}
	}
	if r.keeps != nil {
		kept, err := r.keeps(ctx, e, have)
		if err != nil {
			return err
		}
		if kept != "" {
			return domain.Fail(domain.Permanent, "owns_others", fmt.Errorf("%s %d still has a %s", r.kind, o.ID, kept))
		}
	}
	if err := r.keep(have); err != nil {
		return err
	}
	if r.leaving != nil {
		if err := r.leaving(ctx, e, have); err != nil {
			return err
		}
	}
	if err := e.erase(ctx, r, have); err != nil || r.left == nil {
		return err
	}
	return afterwards(r.left(ctx, e, have))
}

// erase deletes a row that has just been read. Deleting a DNS record that is
// not there is no answer at all.
func (e *Engine) erase(ctx context.Context, r *resource, have row) error {
	number := have.number(r.key)
	if number < 1 {
		return badID(r.kind, number)
	}
	if err := r.keep(have); err != nil {
		return err
	}
	arguments := members{r.byID(number)}
	if r.serial {
		arguments = append(arguments, member{"update_serial", true})
	}
	if err := e.api.call(ctx, r.functions(have)+"_delete", arguments, nil); err != nil {
		return err
	}
	if r == &clients {
		e.owners.groups.forget(number)
	}
	return e.gone(ctx, r, number)
}

func (e *Engine) gone(ctx context.Context, r *resource, number int64) error {
	_, present, err := e.api.get(ctx, r, number)
	if err == nil && present {
		err = domain.Fail(domain.Unknown, "still_there", fmt.Errorf("%s %d is still there", r.kind, number))
	}
	return err
}
