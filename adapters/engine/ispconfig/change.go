package ispconfig

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Change brings an object to its desired state. It reads the row first, which has
// to be the one that the panel knows, and sends only what differs. A DNS record of
// another type, or an alias with another target, becomes a new row. The caller has
// to look up its new number.
func (e *Engine) Change(ctx context.Context, o hosting.EngineObject) error {
	r, err := resourceOf(o.Kind)
	if err != nil {
		return err
	}
	if r.apart != nil {
		_, err := r.apart.write(ctx, e, o)
		return err
	}
	if o.ID < 1 {
		return badID(o.Kind, o.ID)
	}
	w, release, err := e.wish(ctx, r, o)
	if err != nil {
		return err
	}
	defer release()
	have, present, err := e.api.get(ctx, r, o.ID)
	switch {
	case err != nil:
		return err
	case !present && r.replaced != nil: // an interrupted replacement
		w.ID = 0
		_, err := e.create(ctx, r, w)
		return err
	case !present:
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s %d is not there", o.Kind, o.ID))
	}
	return e.changeRow(ctx, r, w, have)
}

func (e *Engine) changeRow(ctx context.Context, r *resource, w *wish, have row) error {
	if r == &mailboxes && have["email"] != w.Name {
		return domain.Fail(domain.Permanent, "not_supported", errors.New("a mailbox cannot get another address"))
	}
	if err := e.identity(r, w, have); err != nil {
		return err
	}
	if r.replaced != nil && r.replaced(w, have) {
		_, err := e.replace(ctx, r, w, have)
		return err
	}
	have, err := mending(e).completed(ctx, r, w, have)
	if err != nil {
		return err
	}
	if err := e.adopted(ctx, r, w, have); err != nil || r.lacks == nil {
		return err
	}
	return e.finish(ctx, r, w, have.number(r.key))
}

func (e *Engine) replace(ctx context.Context, r *resource, w *wish, have row) (int64, error) {
	if err := e.erase(ctx, r, have); err != nil {
		return 0, err
	}
	w.ID = 0
	made, err := e.create(ctx, r, w)
	return made, afterwards(err)
}

// push sends the differences and reads them back, because the number of changed
// rows in the engine's answer is unreliable.
func (e *Engine) push(ctx context.Context, r *resource, w *wish, have row) error {
	params := r.difference(w, have)
	if len(params) == 0 {
		return mending(e).reannounce(ctx, r, have)
	}
	write := func() error { return e.update(ctx, r, have, params) }
	if r.change != nil {
		write = func() error { return r.change(ctx, e, w, have, params) }
	}
	if err := write(); err != nil {
		return e.missing(ctx, r, have, err)
	}
	now, present, err := e.api.get(ctx, r, have.number(r.key))
	switch {
	case err != nil:
		return afterwards(err)
	case !present:
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s %d is gone", r.kind, have.number(r.key)))
	}
	for _, c := range r.columns {
		if _, differs := c.differs(w, now); differs && c.secret == nil {
			return domain.Fail(
				domain.Permanent, "not_taken",
				fmt.Errorf("the engine keeps another %s of %s %d", c.name, r.kind, have.number(r.key)),
			)
		}
	}
	return nil
}

// missing distinguishes a missing row from invalid values: the engine reports both
// with the same error.
func (e *Engine) missing(ctx context.Context, r *resource, have row, err error) error {
	if !refusedAs(err, invalid) {
		return err
	}
	if _, present, again := e.api.get(ctx, r, have.number(r.key)); again == nil && !present {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s %d is gone", r.kind, have.number(r.key)))
	}
	return err
}

// update sends columns. The client id 0 keeps the row's owner.
func (e *Engine) update(ctx context.Context, r *resource, have row, params members) error {
	number := have.number(r.key)
	if number < 1 {
		return badID(r.kind, number)
	}
	arguments := members{{"client_id", 0}, r.byID(number), {"params", params.once()}}
	if r.serial {
		arguments = append(arguments, member{"update_serial", true})
	}
	return e.api.call(ctx, r.functions(have)+"_update", arguments, nil)
}
