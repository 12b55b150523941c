package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The third phase: the object's name at the engine, which one resource has at a
// time (docs/sagas.md, "Claims").

// claim is the claim on the name that the object is to have. What is to leave
// needs none: it leaves under any of its names.
func (a *attempt) claim(ctx context.Context) (c sagas.Claim, err error) {
	if a.former, err = a.reconciler.formerNames(ctx, a.want); err != nil {
		return c, err
	}
	if err := a.want.strategy.awaitName(a); err != nil || a.want.row.Status == hosting.Leaving {
		return c, err
	}
	return a.want.strategy.claimOn(&a.want, a.want.object.Name), nil
}

// claimOn is the claim of a resource on a name outside.
func (p plain) claimOn(w *desired, name string) sagas.Claim {
	server := p.reconciler.engine.Server()
	if w.kind.Backend == hosting.Compute {
		spec, _ := w.machineSpec() // without it, the first hypervisor's
		server = strings.TrimPrefix(p.reconciler.ComputeQueue(spec.Server), "compute:")
	}
	return sagas.Claim{Server: server, Kind: w.object.Kind, Name: name, Owner: w.ref.Stream()}
}

// awaitName: the name of an object depends on its resource alone.
func (plain) awaitName(*attempt) error { return nil }

// hasClaimed tells whether the resource has claimed a name. Otherwise nothing
// that is found under it was made for the resource.
func (p plain) hasClaimed(ctx context.Context, w *desired, name string) (bool, error) {
	owner, err := p.reconciler.runner.ClaimOwner(ctx, p.claimOn(w, name))
	return owner == w.ref.Stream().String(), err
}

// namesake is the resource itself.
func (plain) namesake(w *desired) projections.Resource { return w.row }

// nameWith is the name that the object would have with another spec.
func (plain) nameWith(w *desired, spec field.Values) string {
	other := *w
	other.row.Spec = spec
	return other.asObject().Name
}

// formerNames are the names that the object may still have at the engine,
// latest first: those since the last generation that the engine has confirmed.
func (r *Reconciler) formerNames(ctx context.Context, w desired) (names []string, err error) {
	named := w.strategy.namesake(&w)
	if named.Status == hosting.Running || named.Wish <= 1 {
		return nil, nil
	}
	history, err := r.store.Read(ctx, named.Ref().Stream())
	if err != nil {
		return nil, err
	}
	since := lastConfirmed(history)
	for i := range history {
		if i+1 < len(history) && history[i+1].Version <= since {
			continue
		}
		if name := w.strategy.nameWith(&w, specOf(history[:i+1])); name != w.object.Name && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Reverse(names)
	return names, nil
}

// yieldName brings an older generation to the engine, as far as the name goes,
// while another resource has the later name. Otherwise two resources that
// exchange their names would wait for each other for ever.
func (r *Reconciler) yieldName(ctx context.Context, run *hosting.Generation, w desired) (desired, error) {
	if w.row.Wish <= run.Version || w.row.Status == hosting.Leaving || w.row.Status == hosting.Gone {
		return w, nil
	}
	if free, err := r.runner.ClaimOpen(ctx, w.strategy.claimOn(&w, w.object.Name)); err != nil || free {
		return w, err
	}
	history, err := r.store.Reader().ReadUntil(ctx, w.ref.Stream(), run.Version, time.Time{})
	if err != nil {
		return w, err
	}
	aside := w
	aside.row.Spec, aside.row.Wish = maps.Clone(w.row.Spec), run.Version
	maps.Copy(aside.row.Spec, w.kind.Naming(specOf(history)))
	if err := r.shape(ctx, &aside); err != nil {
		return w, err
	}
	free, err := r.runner.ClaimOpen(ctx, aside.strategy.claimOn(&aside, aside.object.Name))
	if err != nil || !free || aside.object.Name == w.object.Name {
		return w, err
	}
	return aside, nil
}

// contested is the answer to a claim that another resource has already. As long
// as that one has something to do it comes first. When it has not, it keeps the
// name if anything has it at the engine. Otherwise its claim expires.
func (r *Reconciler) contested(ctx context.Context, c sagas.Contest) error {
	kind, id, _ := strings.Cut(c.Holder, "-")
	holder := hosting.RefOf(domain.Stream{Category: kind, ID: id})
	row, err := r.system().Hosting().Recorded(ctx, holder)
	if err != nil {
		return err
	}
	if row[holder].SyncStatus == "pending" {
		return sagas.Await(holder.Stream(), "name_leaving", 0)
	}
	found := true // what a hypervisor has is named after our own numbers
	if c.Claim.Server == r.engine.Server() {
		_, found, err = r.engine.Find(ctx, c.Claim.Kind, c.Claim.Name, "")
	}
	switch left := c.Quarantine - c.Idle; {
	case err != nil:
		return sagas.NothingSent(err)
	case found:
		return errNotOurs
	case left > 0:
		return sagas.TooEarly("quarantine", left)
	}
	return r.runner.ExpireClaim(ctx, c)
}
