package sagas

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// push brings the engine to what a resource is now, whichever wish the run was
// started for.
func (s *Sagas) push(ctx context.Context, job Job) (Call, error) {
	w, err := s.wanted(ctx, job)
	if err != nil {
		return Call{}, err
	}
	if w, err = s.stepAside(ctx, job, w); err != nil {
		return Call{}, err
	}
	if moot, err := s.moot(ctx, job, w); err != nil || moot {
		return w.nothing(), err
	}
	if err := s.inTurn(ctx, job, w); err != nil {
		return Call{}, err
	}
	p := &pushed{s: s, wanted: w}
	if p.former, err = s.formerNames(ctx, w); err != nil {
		return Call{}, err
	}
	if err := p.afterItsSite(); err != nil {
		return Call{}, err
	}
	if err := p.unseal(ctx); err != nil {
		return Call{}, err
	}
	if err := p.sleepers(ctx, job); err != nil {
		return Call{}, err
	}
	call := Call{Request: job.asked(), Repeatable: true, Lookup: p.look, Do: p.besideItsSite(p.bring), Confirmed: p.brought}
	if w.row.Status == hosting.Leaving {
		call.Do, call.Confirmed = p.besideItsSite(p.remove), p.removed
	} else {
		call.Claim = p.claim(p.object.Name)
	}
	return call, nil
}

func (p *pushed) claim(name string) Claim { return p.s.claimOf(p.wanted, name) }

// asked is what the ledger keeps: the same key always stands for the same wish.
func (j Job) asked() any { return Job{Kind: j.Kind, ID: j.ID, Version: j.Version} }

// moot tells whether there is nothing to do: the resource is gone, has been
// brought to the engine already, or is about to be by a later wish, and no
// call of this run is still without an answer.
func (s *Sagas) moot(ctx context.Context, job Job, w wanted) (bool, error) {
	if w.row.Status != hosting.Gone && w.row.Wish == job.Version && w.row.SyncStatus != "synced" {
		return false, nil
	}
	known, err := s.entry(ctx, pushKey(job))
	return err == nil && !known.may(), err
}

// nothing is the call of a run that has nothing to do.
func (w *wanted) nothing() Call {
	return Call{Confirmed: func(Result) Work { return Work{Rows: []eventstore.Row{w.wakes()}} }}
}

// wakes lets runs go on that have waited for the resource.
func (w *wanted) wakes() eventstore.Row { return wakeWaiting(w.ref) }

// pushed is a resource on its way to the engine.
type pushed struct {
	wanted
	s       *Sagas
	former  []string               // names that it may still have there
	opened  []string               // where its secrets waited
	missing bool                   // a secret is gone
	asleep  []projections.Resource // what an earlier attempt may have woken
	woken   bool
	seen    hosting.EngineObject
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
		switch secret, err := p.s.store.OpenHandOff(ctx, engineSecret, key); {
		case errors.Is(err, eventstore.ErrShredded):
			p.missing = true
		case err != nil:
			return err
		default:
			p.object.Secrets[name], p.opened = string(secret), append(p.opened, key)
		}
	}
	return nil
}

// sleepers are what belongs to a tenant and is off. An engine may switch it on
// along with a change of the tenant, and an attempt that was cut short may have
// left it so: then all of it is pushed once more (trap T3 in
// docs/engine-ispconfig.md).
func (p *pushed) sleepers(ctx context.Context, job Job) (err error) {
	if p.kind.Name != "tenant" || p.object.ID == 0 || p.row.Status == hosting.Leaving {
		return nil
	}
	known, err := p.s.entry(ctx, pushKey(job))
	if err != nil {
		return err
	}
	p.woken = known.may()
	p.asleep, err = p.s.tables.For(projections.System).Asleep(ctx, p.ref.ID)
	return err
}

// look finds the object under any of its names.
func (p *pushed) look(ctx context.Context) (Result, Found, error) {
	for _, name := range append([]string{p.object.Name}, p.former...) {
		found, is, err := p.under(ctx, name)
		if err != nil || is {
			return Result{External: strconv.FormatInt(found.ID, 10)}, Yes, err
		}
	}
	return Result{}, No, nil
}

// under is what has a name at the engine that the resource has claimed. What
// has another name was never made for it.
func (p *pushed) under(ctx context.Context, name string) (found hosting.EngineObject, is bool, err error) {
	if claimed, err := p.claimed(ctx, name); err != nil || !claimed {
		return found, false, err
	}
	found, is, err = p.s.engine.Find(ctx, p.object.Kind, name, p.object.Ref)
	return found, is, unsent(err)
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
	if err := p.s.unheld(ctx, p.wanted, found); err != nil {
		return found, false, err
	}
	if !p.ours(found) {
		return found, false, errNotOurs
	}
	return found, true, nil
}

// bring changes what is there, adopts what an earlier attempt has made, and
// makes what there is not. Then it reads what has become of it (rule E-7).
func (p *pushed) bring(ctx context.Context) (Result, error) {
	if stands, err := p.stands(ctx); err != nil || stands {
		return p.result(), err
	}
	if err := p.change(ctx); err == nil || !failedAs(err, "absent") {
		return p.read(ctx, p.contested(ctx, err))
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
	return p.read(ctx, p.contested(ctx, err))
}

// contested waits for a name that is taken, if it is about to become free:
// whoever of the tenant's has it at the engine has another one by now, or
// leaves. One that does not know its number yet looks for it.
func (p *pushed) contested(ctx context.Context, failure error) error {
	if !failedAs(failure, "name_taken") {
		return failure
	}
	found, is, err := p.s.engine.Find(ctx, p.object.Kind, p.object.Name, p.object.Ref)
	switch {
	case err != nil:
		return unsent(err)
	case !is, !p.ours(found):
		return failure
	}
	switch err := p.s.unheld(ctx, p.wanted, found); {
	case errors.Is(err, errNotOurs):
		return failure
	case err != nil:
		return err
	}
	return wait("name_leaving", p.s.times.ReadyFirst)
}

var errAbsent = domain.Fail(domain.Permanent, "absent", errors.New("it has no number at the engine"))

// change brings the object with our number to what is wanted, under whichever
// of its names the engine has it.
func (p *pushed) change(ctx context.Context) error {
	if p.object.ID == 0 {
		return errAbsent
	}
	err := p.s.engine.Change(ctx, p.object)
	if p.kind.Name == "tenant" && err != nil && codeOf(err) == "woken" {
		p.woken = true
		return nil
	}
	for _, name := range p.former {
		if !failedAs(err, "drift") {
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
func (p *pushed) read(ctx context.Context, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	found, is, err := p.s.engine.Find(ctx, p.object.Kind, p.object.Name, p.object.Ref)
	switch {
	case err != nil || !is:
		return p.result(), nil
	case !p.ours(found):
		return Result{}, errNotOurs
	}
	p.seen, p.object.ID = found, found.ID
	return p.result(), nil
}

func (p *pushed) result() Result { return Result{External: strconv.FormatInt(p.object.ID, 10)} }

// brought is what follows once the engine has accepted it: the secrets have
// done their duty.
func (p *pushed) brought(r Result) Work {
	id, _ := strconv.ParseInt(r.External, 10, 64) // written by us, above
	confirm := hosting.Confirm{Ref: p.ref, EngineID: id, Observed: p.seen.Observed, Version: p.row.Wish}
	work := p.answered(confirm, p.claim(p.object.Name))
	if p.woken {
		for _, r := range p.asleep {
			work.Commands = append(work.Commands, hosting.Push{Ref: refTo(r)})
		}
	}
	return work
}

// answered is what follows from the engine's answer. Of all names that the
// resource has claimed it keeps at most one.
func (p *pushed) answered(confirm hosting.Confirm, kept Claim) Work {
	work := Work{Commands: []domain.Command{confirm}, Rows: []eventstore.Row{freeRow(p.ref.Stream(), kept), p.wakes()}}
	for _, key := range p.opened {
		work.Rows = append(work.Rows, eventstore.Shred(key))
	}
	return work
}

// remove removes the object, if there is one and it is ours. A change without an
// answer may have made another object of it, with a number that nobody knows.
func (p *pushed) remove(ctx context.Context) (Result, error) {
	if p.object.ID != 0 {
		err := p.removeOne(ctx, p.object.ID)
		if err != nil || p.kind.Name == certificateKind {
			return Result{}, err
		}
	}
	found, is, err := p.find(ctx)
	if err != nil || !is {
		return Result{}, p.gone(err)
	}
	return Result{}, p.removeOne(ctx, found.ID)
}

func (p *pushed) removeOne(ctx context.Context, id int64) error {
	o := hosting.EngineObject{Kind: p.object.Kind, ID: id, Owner: p.object.Owner, Name: p.object.Name, Ref: p.object.Ref, Parents: p.object.Parents}
	if shared, err := p.shared(ctx, o.ID); err != nil || shared {
		return err
	}
	err := p.s.engine.Remove(ctx, o)
	for _, name := range p.former {
		if !failedAs(err, "drift") {
			break
		}
		o.Name = name
		err = p.s.engine.Remove(ctx, o)
	}
	return err
}

// gone: what has somebody else's name was never made for the resource.
func (p *pushed) gone(err error) error {
	if errors.Is(err, errNotOurs) || failedAs(err, "not_supported") {
		return nil
	}
	return err
}

func (p *pushed) removed(Result) Work {
	return p.answered(hosting.Confirm{Ref: p.ref, Version: p.row.Wish}, Claim{})
}

// failedAs tells whether the engine has refused for good, and why.
func failedAs(err error, code string) bool {
	return err != nil && domain.ClassOf(err) == domain.Permanent && codeOf(err) == code
}

// unsent is how a look-up failed: whatever went wrong, nothing was changed.
func unsent(err error) error {
	if err == nil || domain.ClassOf(err) != domain.Unknown {
		return err
	}
	return domain.Fail(domain.Transient, "no_answer", fmt.Errorf("look up: %w", err))
}

// handleOf is the handle under which a secret is handed over; zero: none.
func handleOf(raw []byte) (handle uuid.UUID, err error) {
	if len(raw) < 2 || string(raw) == `""` || string(raw) == "null" {
		return uuid.Nil, nil
	}
	return uuid.Parse(string(raw[1 : len(raw)-1]))
}
