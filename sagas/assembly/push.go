package assembly

import (
	"context"
	"errors"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// push brings the engine to what a resource is now, whichever wish the run was
// started for.
func (s *Panel) push(ctx context.Context, job *ResourceVersion) (sagas.Call, error) {
	w, err := s.desired(ctx, job)
	if err != nil {
		return sagas.Call{}, err
	}
	if w, err = s.yieldName(ctx, job, w); err != nil {
		return sagas.Call{}, err
	}
	if moot, err := s.upToDate(ctx, job, w); err != nil || moot {
		return w.nothing(), err
	}
	if err := s.inTurn(ctx, job, w); err != nil {
		return sagas.Call{}, err
	}
	p := &pushed{s: s, desired: w}
	if p.former, err = s.formerNames(ctx, w); err != nil {
		return sagas.Call{}, err
	}
	if err := p.afterItsSite(); err != nil {
		return sagas.Call{}, err
	}
	if err := p.unseal(ctx); err != nil {
		return sagas.Call{}, err
	}
	if err := p.suspendedChildren(ctx, job); err != nil {
		return sagas.Call{}, err
	}
	call := sagas.Call{Contested: s.contested, Request: *job, Repeatable: true, Lookup: p.look, Do: p.besideItsSite(p.bring), Confirmed: p.brought}
	if w.row.Status == hosting.Leaving {
		call.Do, call.Confirmed = p.besideItsSite(p.remove), p.removed
	} else {
		call.Claim = p.claim(p.object.Name)
	}
	return call, nil
}

func (p *pushed) claim(name string) sagas.Claim { return p.s.claimOf(p.desired, name) }

// upToDate tells whether there is nothing to do: the resource is gone, has been
// brought to the engine already, or is about to be by a later wish, and no
// call of this run is still without an answer.
func (s *Panel) upToDate(ctx context.Context, job *ResourceVersion, w desired) (bool, error) {
	if w.row.Status != hosting.Gone && w.row.Wish == job.Version && w.row.SyncStatus != "synced" {
		return false, nil
	}
	known, err := s.Effect(ctx, pushKey(*job))
	return err == nil && !known.MayHaveHappened(), err
}

// nothing is the call of a run that has nothing to do.
func (w *desired) nothing() sagas.Call {
	return sagas.Call{Confirmed: func(sagas.Result) sagas.Work { return sagas.Work{Rows: []eventstore.TxStatement{w.wakes()}} }}
}

// wakes lets runs go on that have waited for the resource.
func (w *desired) wakes() eventstore.TxStatement { return sagas.WakeWaiting(w.ref.Stream()) }

// pushed is a resource on its way to the engine.
type pushed struct {
	desired
	s         *Panel
	former    []string               // names that it may still have there
	opened    []string               // where its secrets waited
	missing   bool                   // a secret is gone
	suspended []projections.Resource // what an earlier attempt may have woken
	woken     bool
	seen      hosting.EngineObject
}

// unseal opens the secrets that the spec names. One that the engine has got
// already is gone, and so is one that has waited too long.
func (p *pushed) unseal(ctx context.Context) error {
	p.object.Secrets = hosting.Secrets{}
	for _, name := range p.kind.Secrets() {
		handle, err := handleOf(p.row.Spec[name])
		if err != nil || handle == uuid.Nil {
			continue
		}
		key := secretKey(handle)
		switch secret, err := p.s.vault.OpenHandOff(ctx, engineSecret, key); {
		case errors.Is(err, credentials.ErrShredded):
			p.missing = true
		case err != nil:
			return err
		default:
			p.object.Secrets[name], p.opened = string(secret), append(p.opened, key)
		}
	}
	return nil
}

// suspendedChildren are what belongs to a tenant and is off. An engine may switch it on
// along with a change of the tenant, and an attempt that was cut short may have
// left it so: then all of it is pushed once more (trap T3 in
// docs/engine-ispconfig.md).
func (p *pushed) suspendedChildren(ctx context.Context, job *ResourceVersion) (err error) {
	if !p.kind.Owner || p.object.ID == 0 || p.row.Status == hosting.Leaving {
		return nil
	}
	known, err := p.s.Effect(ctx, pushKey(*job))
	if err != nil {
		return err
	}
	p.woken = known.MayHaveHappened()
	p.suspended, err = p.s.tables.For(projections.System).Asleep(ctx, p.ref.ID)
	return err
}

// look finds the object under any of its names.
func (p *pushed) look(ctx context.Context) (sagas.Result, sagas.Found, error) {
	for _, name := range append([]string{p.object.Name}, p.former...) {
		found, is, err := p.under(ctx, name)
		if err != nil || is {
			return sagas.Result{External: strconv.FormatInt(found.ID, 10)}, sagas.Yes, err
		}
	}
	return sagas.Result{}, sagas.No, nil
}

// under is what has a name at the engine that the resource has claimed. What
// has another name was never made for it.
func (p *pushed) under(ctx context.Context, name string) (found hosting.EngineObject, is bool, err error) {
	if claimed, err := p.claimed(ctx, name); err != nil || !claimed {
		return found, false, err
	}
	found, is, err = p.s.engine.Find(ctx, p.object.Kind, name, p.object.Ref)
	return found, is, sagas.NothingSent(err)
}

// find looks for an object that has been made for the resource without our
// knowing its number: under the name that it has now, or under one that it had
// when nobody got an answer.
func (p *pushed) find(ctx context.Context) (hosting.EngineObject, bool, error) {
	found, is, err := p.findAs(ctx, p.object.Name)
	for _, name := range p.former {
		if err != nil || is {
			break
		}
		if found, is, err = p.findAs(ctx, name); errors.Is(err, errNotOurs) {
			err = nil
		}
	}
	return found, is, err
}

func (p *pushed) findAs(ctx context.Context, name string) (hosting.EngineObject, bool, error) {
	found, is, err := p.under(ctx, name)
	if err != nil || !is {
		return found, false, err
	}
	if err := p.s.unheld(ctx, p.desired, found); err != nil {
		return found, false, err
	}
	if !p.ours(found) {
		return found, false, errNotOurs
	}
	return found, true, nil
}

// bring changes what is there, adopts what an earlier attempt has made, and
// makes what there is not. Then it reads what has become of it (rule E-7).
func (p *pushed) bring(ctx context.Context) (sagas.Result, error) {
	if stands, err := p.stands(ctx); err != nil || stands {
		return p.result(), err
	}
	if err := p.change(ctx); err == nil || !sagas.RefusedAs(err, "absent") {
		return p.read(ctx, p.retryIfNameFreed(ctx, err))
	}
	found, is, err := p.find(ctx)
	switch {
	case err != nil:
	case is:
		p.object.ID = found.ID
		err = p.change(ctx)
	case p.missing:
		err = domain.Fail(domain.Permanent, "secret_needed", errors.New("the password has to be sent again"))
	default:
		p.object.ID, err = p.s.engine.Create(ctx, p.object)
	}
	return p.read(ctx, p.retryIfNameFreed(ctx, err))
}

// retryIfNameFreed waits for a name that is taken, if it is about to become free:
// whoever of the tenant's has it at the engine has another one by now, or
// leaves. One that does not know its number yet looks for it.
func (p *pushed) retryIfNameFreed(ctx context.Context, failure error) error {
	if !sagas.RefusedAs(failure, "name_taken") {
		return failure
	}
	found, is, err := p.s.engine.Find(ctx, p.object.Kind, p.object.Name, p.object.Ref)
	switch {
	case err != nil:
		return sagas.NothingSent(err)
	case !is, !p.ours(found):
		return failure
	}
	switch err := p.s.unheld(ctx, p.desired, found); {
	case errors.Is(err, errNotOurs):
		return failure
	case err != nil:
		return err
	}
	return sagas.TooEarly("name_leaving", p.s.times.ReadyFirst)
}

var errAbsent = domain.Fail(domain.Permanent, "absent", errors.New("it has no number at the engine"))

// change brings the object with our number to what is wanted, under whichever
// of its names the engine has it.
func (p *pushed) change(ctx context.Context) error {
	if p.object.ID == 0 {
		return errAbsent
	}
	err := p.s.engine.Change(ctx, p.object)
	if p.kind.Owner && err != nil && sagas.CodeOf(err) == "woken" {
		p.woken = true
		return nil
	}
	for _, name := range p.former {
		if !sagas.RefusedAs(err, "drift") {
			break
		}
		renamed := p.object
		renamed.Former = name
		err = p.s.engine.Change(ctx, renamed)
	}
	return err
}

// read looks at what has been written. No answer to that changes nothing: the
// wait looks again.
func (p *pushed) read(ctx context.Context, err error) (sagas.Result, error) {
	if err != nil {
		return sagas.Result{}, err
	}
	found, is, err := p.s.engine.Find(ctx, p.object.Kind, p.object.Name, p.object.Ref)
	switch {
	case err != nil || !is:
		return p.result(), nil
	case !p.ours(found):
		return sagas.Result{}, errNotOurs
	}
	p.seen, p.object.ID = found, found.ID
	return p.result(), nil
}

func (p *pushed) result() sagas.Result {
	return sagas.Result{External: strconv.FormatInt(p.object.ID, 10)}
}

// brought is what follows once the engine has accepted it: the secrets have
// done their duty.
func (p *pushed) brought(r sagas.Result) sagas.Work {
	id, _ := strconv.ParseInt(r.External, 10, 64) // written by us, above
	confirm := hosting.Confirm{Ref: p.ref, EngineID: id, Observed: p.seen.Observed, Version: p.row.Wish}
	work := p.answered(confirm, p.claim(p.object.Name))
	if p.woken {
		for _, r := range p.suspended {
			work.Commands = append(work.Commands, hosting.Push{Ref: refTo(r)})
		}
	}
	return work
}

// answered is what follows from the engine's answer. Of all names that the
// resource has claimed it keeps at most one.
func (p *pushed) answered(confirm hosting.Confirm, kept sagas.Claim) sagas.Work {
	work := sagas.Work{Commands: []domain.Command{confirm}, Rows: []eventstore.TxStatement{sagas.FreeClaims(p.ref.Stream(), kept), p.wakes()}}
	for _, key := range p.opened {
		work.Rows = append(work.Rows, credentials.Shred(key))
	}
	return work
}

// remove removes the object, if there is one and it is ours. A change without an
// answer may have made another object of it, with a number that nobody knows.
func (p *pushed) remove(ctx context.Context) (sagas.Result, error) {
	if p.object.ID != 0 {
		err := p.removeOne(ctx, p.object.ID)
		if err != nil || p.kind.Issued {
			return sagas.Result{}, err
		}
	}
	found, is, err := p.find(ctx)
	if err != nil || !is {
		return sagas.Result{}, p.gone(err)
	}
	return sagas.Result{}, p.removeOne(ctx, found.ID)
}

func (p *pushed) removeOne(ctx context.Context, id int64) error {
	o := hosting.EngineObject{Kind: p.object.Kind, ID: id, Owner: p.object.Owner, Name: p.object.Name, Ref: p.object.Ref, Parents: p.object.Parents}
	if shared, err := p.shared(ctx, o.ID); err != nil || shared {
		return err
	}
	err := p.s.engine.Remove(ctx, o)
	for _, name := range p.former {
		if !sagas.RefusedAs(err, "drift") {
			break
		}
		o.Name = name
		err = p.s.engine.Remove(ctx, o)
	}
	return err
}

// gone: what has somebody else's name was never made for the resource.
func (p *pushed) gone(err error) error {
	if errors.Is(err, errNotOurs) || sagas.RefusedAs(err, "not_supported") {
		return nil
	}
	return err
}

func (p *pushed) removed(sagas.Result) sagas.Work {
	return p.answered(hosting.Confirm{Ref: p.ref, Version: p.row.Wish}, sagas.Claim{})
}

// handleOf is the handle under which a secret is handed over; zero: none.
func handleOf(raw []byte) (handle uuid.UUID, err error) {
	if len(raw) < 2 || string(raw) == `""` || string(raw) == "null" {
		return uuid.Nil, nil
	}
	return uuid.Parse(string(raw[1 : len(raw)-1]))
}
