package reconcile

import (
	"context"
	"errors"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
)

// Looking for the object at the engine, and telling whose it is.

// errNotOurs refuses a name that another has at the engine.
var errNotOurs = domain.Fail(domain.Permanent, "name_taken", errors.New("an object of that name belongs to another owner"))

// errRefused is what was accepted, and refused when it was to be carried out.
var errRefused = domain.Fail(domain.Permanent, "engine_refused", errors.New("the server has refused what the engine had accepted"))

// shown is the object that the engine shows under the present name. One that is
// another's is refused.
func (w *desired) shown(ctx context.Context, engine hosting.EngineServer) (hosting.EngineObject, bool, error) {
	found, is, err := engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	if err == nil && is && !w.ours(found) {
		err = errNotOurs
	}
	return found, is, err
}

// look finds the object under any of its names.
func (a *attempt) look(ctx context.Context) (sagas.Result, sagas.Found, error) {
	for _, name := range append([]string{a.want.object.Name}, a.former...) {
		found, is, err := a.under(ctx, name)
		if err != nil || is {
			return sagas.Result{External: strconv.FormatInt(found.ID, 10)}, sagas.Yes, err
		}
	}
	return sagas.Result{}, sagas.No, nil
}

// under is what has a name at the engine that the resource has claimed. What
// has another name was never made for it.
func (a *attempt) under(ctx context.Context, name string) (found hosting.EngineObject, is bool, err error) {
	if claimed, err := a.want.strategy.hasClaimed(ctx, &a.want, name); err != nil || !claimed {
		return found, false, err
	}
	found, is, err = a.reconciler.engine.Find(ctx, a.want.object.Kind, name, a.want.object.Ref)
	return found, is, sagas.NothingSent(err)
}

// find looks for an object that has been made for the resource without our
// knowing its number: under the name that it has now, or under one that it had
// when a call was not answered.
func (a *attempt) find(ctx context.Context) (hosting.EngineObject, bool, error) {
	found, is, err := a.findAs(ctx, a.want.object.Name)
	for _, name := range a.former {
		if err != nil || is {
			break
		}
		if found, is, err = a.findAs(ctx, name); errors.Is(err, errNotOurs) {
			err = nil
		}
	}
	return found, is, err
}

func (a *attempt) findAs(ctx context.Context, name string) (hosting.EngineObject, bool, error) {
	found, is, err := a.under(ctx, name)
	if err != nil || !is {
		return found, false, err
	}
	if err := a.want.strategy.unheld(ctx, &a.want, found); err != nil {
		return found, false, err
	}
	if !a.want.ours(found) {
		return found, false, errNotOurs
	}
	return found, true, nil
}

// unheld refuses to take what the engine has made for another resource. If
// that one is about to leave or to be renamed, its turn comes first.
func (p plain) unheld(ctx context.Context, w *desired, found hosting.EngineObject) error {
	holders, err := p.reconciler.system().Hosting().Holders(ctx, w.kind.Name, found.ID)
	for _, h := range holders {
		switch {
		case h.Ref() == w.ref:
		case h.SyncStatus == "pending":
			return sagas.Await(h.Ref().Stream(), "name_leaving", 0)
		default:
			return errNotOurs
		}
	}
	return err
}

// ours tells whether an object at the engine may be this one: it is the
// tenant's, or it is the client that has the tenant's number and its login.
func (w *desired) ours(found hosting.EngineObject) bool {
	if w.kind.Owner {
		return found.Ref == w.object.Ref && hosting.IsLogin(found.Name, w.object.Name)
	}
	return w.object.Owner != 0 && found.Owner == w.object.Owner
}
