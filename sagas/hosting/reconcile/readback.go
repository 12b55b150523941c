package reconcile

import (
	"context"
	"errors"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The fifth phase: what the engine shows of the object is read back, once after
// the act and then until the engine has applied it.

// errNotShown is a change that the engine has accepted and does not show. Look-ups
// decide, as after a call without an answer: the secrets are kept until then.
var errNotShown = domain.Fail(domain.Unknown, "not_shown", errors.New("the engine has accepted the change and does not show the object"))

// readBack reads what has been written. No answer to that changes nothing: the
// next step reads again.
func (a *attempt) readBack(ctx context.Context, err error) (sagas.Result, error) {
	if err != nil {
		return sagas.Result{}, err
	}
	found, is, err := a.want.shown(ctx, a.reconciler.engine)
	switch {
	case errors.Is(err, errNotOurs):
		return sagas.Result{}, err
	case err != nil, !is && a.want.byOrder: // which has no secrets to keep
		return a.result(), nil
	case !is:
		return sagas.Result{}, errNotShown
	}
	a.seen, a.want.object.ID = found, found.ID
	return a.result(), nil
}

func (a *attempt) result() sagas.Result {
	return sagas.Result{External: strconv.FormatInt(a.want.object.ID, 10)}
}

// confirm confirms the generation, with what was seen of the object.
func (w *desired) confirm(made sagas.Result, observed field.Values) hosting.Confirm {
	c := hosting.Confirm{Ref: w.ref, Observed: observed, Version: w.row.Wish}
	if w.kind.Backend == hosting.Compute {
		c.External = made.External
	} else {
		c.EngineID, _ = strconv.ParseInt(made.External, 10, 64) // written by us, above
	}
	return c
}

// brought is what follows once it was accepted: the secrets have done their duty. A
// machine that was ordered is confirmed once it runs.
func (a *attempt) brought(r sagas.Result) sagas.Work {
	if a.want.byOrder && a.want.kind.Backend == hosting.Compute {
		return sagas.Work{}
	}
	confirm := a.want.confirm(r, a.seen.Observed)
	work := a.answered(confirm, a.want.strategy.claimOn(&a.want, a.want.object.Name))
	if a.woken {
		for i := range a.suspended {
			work.Commands = append(work.Commands, hosting.Push{Ref: a.suspended[i].Ref()})
		}
	}
	return work
}

// answered is what follows from the engine's answer. Of all names that the
// resource has claimed it keeps at most one. In its first generation it has no other.
func (a *attempt) answered(confirm hosting.Confirm, kept sagas.Claim) sagas.Work {
	work := sagas.Work{Commands: append([]domain.Command{confirm}, a.endParts()...), Releases: a.want.ref.Stream()}
	if confirm.Version > first {
		work.Rows = append(work.Rows, sagas.FreeClaims(a.want.ref.Stream(), kept))
	}
	for _, key := range a.opened {
		work.Rows = append(work.Rows, credentials.Shred(key))
	}
	return work
}

// removed is what follows once it is gone: a secret that waits to be shown goes with it.
func (a *attempt) removed(sagas.Result) sagas.Work {
	work := a.answered(hosting.Confirm{Ref: a.want.ref, Version: a.want.row.Wish}, sagas.Claim{})
	work.Rows = append(work.Rows, a.reconciler.ShredShown(a.want.ref)...)
	return work
}

// applied is the step that waits until the engine has not only accepted the
// change but carried it out. What it has observed by then is kept.
func (r *Reconciler) applied(ctx context.Context, run *hosting.Generation) (bool, sagas.Work, error) {
	w, err := r.desired(ctx, run)
	if err != nil || settled(w.row, run) || !w.isMade() {
		return err == nil, sagas.Work{}, err
	}
	return w.strategy.applied(ctx, &w)
}

// settled tells whether there is nothing to wait for: a later generation has come,
// or the resource neither runs nor was refused in the end.
func settled(row projections.Resource, run *hosting.Generation) bool {
	return row.Wish > run.Version || row.Status != hosting.Running && row.Status != hosting.Refused
}

// applied is when the engine says so.
func (p plain) applied(ctx context.Context, w *desired) (bool, sagas.Work, error) {
	found, is, err := w.shown(ctx, p.reconciler.engine)
	switch {
	case err != nil:
		return false, sagas.Work{}, err
	case !is:
		return false, sagas.Work{}, sagas.ErrAbsent
	case found.Refused:
		return false, sagas.Work{}, errRefused
	}
	seen := hosting.Confirm{Ref: w.ref, EngineID: found.ID, Observed: found.Observed, Version: w.row.Wish}
	return found.Applied, sagas.Work{Commands: []domain.Command{seen}}, nil
}
