package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The second phase: what a resource waits for before it is brought to the engine.
// That is earlier runs, its tenant, what it is a part of, and what has its name.

// order returns what has to come first, as an error that waits; nil: nothing.
func (r *Reconciler) order(ctx context.Context, run *hosting.Generation, w desired) error {
	if w.byOrder {
		return r.afterParents(ctx, w) // its generation is the first, and the claim tells of namesakes
	}
	if err := r.afterEarlier(ctx, run, w); err != nil {
		return err
	}
	if w.row.Status == hosting.Leaving {
		return r.afterParts(ctx, w)
	}
	if err := r.afterParents(ctx, w); err != nil {
		return err
	}
	if err := r.leadsOn(ctx, w); err != nil {
		return err
	}
	return r.afterNamesakes(ctx, w)
}

// leadsOn refuses a forward whose mail comes back to it. The form has looked, but two requests
// at once may each be right and make a ring together.
func (r *Reconciler) leadsOn(ctx context.Context, w desired) error {
	spec := w.kind.New()
	forward, is := spec.(interface {
		LeadsBack(known []field.Values) (refusal string)
	})
	if !is || !w.row.Active {
		return nil
	}
	if err := w.row.Load(spec); err != nil {
		return err
	}
	near, err := r.system().Hosting().Near(ctx, w.ref, spec, w.row.Tenant)
	if err != nil {
		return err
	}
	if refusal := forward.LeadsBack(near); refusal != "" {
		return domain.Fail(domain.Permanent, "leads_back", errors.New(refusal))
	}
	return nil
}

// afterEarlier lets earlier runs of the resource come first. One that is
// parked is overtaken: it goes on and finds that it has nothing to do. An order
// that has yet to make the resource comes first as well.
func (r *Reconciler) afterEarlier(ctx context.Context, run *hosting.Generation, w desired) error {
	if err := r.runner.AfterEarlier(ctx, run.Ref().Stream(), run.Version); err != nil {
		return err
	}
	if ordered, err := r.beingOrdered(ctx, w.row); err != nil || !ordered || w.isMade() {
		return err
	}
	return sagas.Await(w.ref.Stream(), "order", 0)
}

// beingOrdered tells whether the order that a resource was requested for is
// still being provisioned.
func (r *Reconciler) beingOrdered(ctx context.Context, row projections.Resource) (live bool, err error) {
	order, err := uuid.Parse(strings.TrimPrefix(row.RequestedFor, "order:"))
	if err != nil {
		return false, nil // it is no order's
	}
	return r.runner.IsLive(ctx, "provision:"+order.String())
}

// afterParents waits for the numbers of the tenant and of what the resource is
// a part of or refers to.
func (r *Reconciler) afterParents(ctx context.Context, w desired) error {
	if w.kind.Owner {
		return nil
	}
	for _, ref := range w.needs() {
		row, known := w.beside[ref]
		switch {
		case ref.ID == 0: // it refers to none
		case !known, row.Status == hosting.Leaving, row.Status == hosting.Gone:
			// Its own record may have been read before that of the parent went.
			missing := domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("%s is not there", ref.Stream()))
			return cmp.Or(r.afterOrder(ctx, w), missing)
		case engineID(row) == 0 && row.External == "":
			return errors.Join(r.making(ctx, row), sagas.Await(ref.Stream(), "parent", 0))
		}
	}
	return nil
}

// making asks for a tenant's place at the engine. An order without hosting makes
// none, and the first resource in the tenant needs one.
func (r *Reconciler) making(ctx context.Context, row projections.Resource) error {
	if kind, _ := hosting.KindNamed(row.Kind); !kind.Owner || row.RequestedFor == "" {
		return nil
	}
	if live, err := r.beingOrdered(ctx, row); err != nil || live {
		return err
	}
	// It is the same cause each time, so this happens once.
	cause := domain.Metadata{ID: sagas.RunID("place:" + row.Ref().Stream().String()), Actor: "system:engine"}
	_, err := r.store.Execute(ctx, cause, hosting.Push{Ref: row.Ref()})
	return err
}

// afterNamesakes waits until what had the name before has left the engine.
func (r *Reconciler) afterNamesakes(ctx context.Context, w desired) error {
	name := w.kind.Naming(w.row.Spec)
	if w.isMade() || len(name) == 0 {
		return nil
	}
	leaving, err := r.system().Hosting().Leaving(ctx, w.kind.Name, 0, name)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return sagas.Await(leaving[0].Ref().Stream(), "name_leaving", 0)
}

// afterParts waits until everything has left that belongs to what is to leave.
func (r *Reconciler) afterParts(ctx context.Context, w desired) error {
	leaving, err := r.leavingParts(ctx, w)
	if err != nil || len(leaving) == 0 {
		return err
	}
	return sagas.Await(leaving[0].Ref().Stream(), "parts_leaving", 0)
}

func (r *Reconciler) leavingParts(ctx context.Context, w desired) (all []projections.Resource, err error) {
	scope := r.system()
	if w.kind.Owner {
		return scope.Hosting().LeavingOf(ctx, w.ref.ID)
	}
	for _, child := range w.kind.Children() {
		found, err := scope.Hosting().Leaving(ctx, child.Kind.Name, w.row.Tenant, field.Values{child.By: fmt.Append(nil, w.ref.ID)})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}
