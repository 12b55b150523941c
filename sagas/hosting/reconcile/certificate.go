package reconcile

import (
	"context"
	"encoding/json"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// certificates is the strategy for certificates (docs/certificates.md, "At the
// engine"). An order of one must not happen by the way. It is issued some time
// later or not at all, and it is called like its site.
type certificates struct{ plain }

// An order of a certificate, as its row tells.
type ordered struct {
	hosting.Certificate
	open bool // it has not been answered yet
}

func (w *desired) ordered() (o ordered, err error) {
	err = w.row.Load(&o.Certificate)
	o.open = o.Status == hosting.Ordering.Status() && w.row.Active
	return o, err
}

// outgrew tells whether the site has another name by now: what the engine has
// of it, which is called like the site, is no more this certificate.
func (w *desired) outgrew(o ordered) bool {
	return o.Type == hosting.Acme && !hosting.Below(o.Domain, w.object.Name)
}

// namesake is the certificate's site.
func (certificates) namesake(w *desired) projections.Resource {
	parent, _ := w.kind.Parent()
	return w.beside[w.to(parent)]
}

// nameWith is the name that follows from a spec of the site.
func (certificates) nameWith(w *desired, spec field.Values) string {
	return w.kind.Object(w.ref.ID, w.row.Spec, spec).Name
}

// claimOn: there is no claim. Who writes to the certificate of a site follows
// from the site.
func (certificates) claimOn(*desired, string) sagas.Claim { return sagas.Claim{} }

// hasClaimed: under a name that another site has claimed by now there is no
// certificate of its own.
func (c certificates) hasClaimed(ctx context.Context, w *desired, name string) (bool, error) {
	site := c.namesake(w)
	return c.reconciler.runner.ClaimOpen(
		ctx,
		sagas.Claim{Server: c.reconciler.engine.Server(), Kind: site.Kind, Name: name, Owner: site.Ref().Stream()},
	)
}

// unheld: a certificate has the number of its site.
func (certificates) unheld(context.Context, *desired, hosting.EngineObject) error { return nil }

// awaitName lets the site get its name first: the engine calls the certificate
// after it. What is to leave leaves under any name.
func (c certificates) awaitName(a *attempt) error {
	site := c.namesake(&a.want)
	if len(a.former) == 0 || a.want.row.Status == hosting.Leaving || site.SyncStatus != "pending" {
		return nil
	}
	return sagas.Await(site.Ref().Stream(), "parent", 0)
}

// refused tries again later if the engine refuses something of a certificate
// while its site was on its way to another name.
func (c certificates) refused(ctx context.Context, a *attempt, failure error) error {
	if failure == nil || domain.ClassOf(failure) != domain.Permanent {
		return failure
	}
	before := c.namesake(&a.want)
	now, err := c.reconciler.system().Hosting().Recorded(ctx, before.Ref())
	if err != nil {
		return err
	}
	if before.SyncStatus != "pending" && now[before.Ref()].Wish == before.Wish {
		return failure
	}
	return sagas.TooEarly("parent", c.reconciler.times.ReadyFirst)
}

// untouched tells whether the engine is to be left alone: the certificate has not
// been ordered since it was issued or failed, or its site is off or has another
// name. One that was issued and that the engine has lost is ordered anew.
func (certificates) untouched(ctx context.Context, a *attempt) (bool, error) {
	o, err := a.want.ordered()
	switch {
	case err != nil || !a.want.row.Active:
		return err == nil, err
	case a.want.outgrew(o):
		return true, nil
	case o.open:
		return a.secretMissing && a.want.object.ID != 0, nil // what was brought along is there, and cannot be brought again
	case o.Status != hosting.Issued.Status():
		return true, nil
	}
	found, is, err := a.find(ctx)
	if is {
		a.want.object.ID = found.ID
	}
	return is, err
}

// remove removes the certificate unless the site's other certificate is the same
// object: an engine may have one object per site.
func (c certificates) remove(ctx context.Context, a *attempt) error {
	id := a.want.object.ID
	if id == 0 {
		found, is, err := a.find(ctx)
		if err != nil || !is {
			return foreign(err)
		}
		id = found.ID
	}
	if shared, err := c.shared(ctx, &a.want, id); err != nil || shared {
		return err
	}
	return a.removeOne(ctx, id)
}

// shared tells whether an object at the engine stands for another certificate
// as well: then it stays.
func (c certificates) shared(ctx context.Context, w *desired, id int64) (bool, error) {
	holders, err := c.reconciler.system().Hosting().Holders(ctx, w.kind.Name, id)
	for _, h := range holders {
		if h.Ref() != w.ref && h.Status != hosting.Leaving {
			return true, nil
		}
	}
	return false, err
}

// applied is when the engine tells until when a certificate is
// valid, or has none: then it was not issued.
func (c certificates) applied(ctx context.Context, w *desired) (bool, sagas.Work, error) {
	o, err := w.ordered()
	if err != nil || !w.row.Active {
		return err == nil, sagas.Work{}, err
	}
	if w.outgrew(o) {
		return c.notIssued(w, o, "not_issued")
	}
	found, is, err := c.reconciler.engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	switch {
	case domain.ClassOf(err) == domain.Permanent && err != nil:
		return c.notIssued(w, o, sagas.CodeOf(err))
	case err != nil:
		return false, sagas.Work{}, err
	case is && !w.ours(found):
		return false, sagas.Work{}, errNotOurs
	case is && found.Refused:
		return c.notIssued(w, o, sagas.CodeOf(errRefused))
	}
	if observed, answered := o.answeredBy(found); is && answered {
		confirm := hosting.Confirm{Ref: w.ref, EngineID: found.ID, Observed: observed, Version: w.row.Wish}
		return true, sagas.Work{Commands: []domain.Command{confirm}}, nil
	}
	// The clock here is the database's, which dates the events.
	waited, gone := c.reconciler.store.Clock().Since(w.row.UpdatedAt), !is || found.Applied && o.otherSort(found)
	if gone && waited > c.reconciler.runner.Times().Quarantine || waited > c.reconciler.times.ReadyBudget/2 {
		return c.notIssued(w, o, "not_issued")
	}
	return !o.open, sagas.Work{}, nil
}

// notIssued is the answer to an order that came to nothing.
func (c certificates) notIssued(w *desired, o ordered, code string) (bool, sagas.Work, error) {
	if !o.open {
		return true, sagas.Work{}, nil // the order has been answered
	}
	return true, sagas.Work{
		Commands: []domain.Command{hosting.Decline{Ref: w.ref, Code: code, Version: w.row.Wish, At: c.reconciler.runner.Now()}},
	}, nil
}

// answeredBy tells whether what the engine has is what was ordered, and not
// the certificate in whose place it was. Of what was brought along the panel
// itself knows until when it is valid.
func (o *ordered) answeredBy(found hosting.EngineObject) (observed field.Values, is bool) {
	switch {
	case !found.Applied || o.otherSort(found):
		return nil, false
	case o.Type != hosting.Acme && o.BroughtTo != nil:
		return field.Values{"expires_at": field.AppendTime(nil, *o.BroughtTo)}, true
	}
	var ends time.Time
	known := json.Unmarshal(found.Observed["expires_at"], &ends) == nil
	return found.Observed, known && (o.Replaces == nil || !ends.Equal(*o.Replaces))
}

func (o *ordered) otherSort(found hosting.EngineObject) bool {
	var sort string
	return json.Unmarshal(found.Values["cert_type"], &sort) == nil && sort != o.Type
}
