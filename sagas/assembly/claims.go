package assembly

import (
	"context"
	"maps"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// claimOf is the claim of a resource on a name at the engine. Certificates have
// none: who writes to that of a site follows from the site.
func (s *Panel) claimOf(w desired, name string) sagas.Claim {
	if w.kind.Issued {
		return sagas.Claim{}
	}
	return sagas.Claim{Server: s.engine.Server(), Kind: w.object.Kind, Name: name, Owner: w.ref.Stream()}
}

// claimed tells whether the resource has claimed a name. Otherwise nothing that
// is found under it was made for the resource. Under a name that another site
// has claimed by now there is no certificate of its own.
func (p *pushed) claimed(ctx context.Context, name string) (bool, error) {
	if p.kind.Issued {
		site := refTo(p.namesake())
		return p.s.ClaimOpen(ctx, sagas.Claim{Server: p.s.engine.Server(), Kind: site.Kind, Name: name, Owner: site.Stream()})
	}
	owner, err := p.s.ClaimOwner(ctx, p.claim(name))
	return owner == p.ref.Stream().String(), err
}

// yieldName lets a wish that has been overtaken be fulfilled all the same, as
// far as the name goes, while another resource has the name that came after:
// two that exchange their names would wait for each other for ever.
func (s *Panel) yieldName(ctx context.Context, job *ResourceVersion, w desired) (desired, error) {
	if w.row.Wish <= job.Version || w.row.Status == hosting.Leaving || w.row.Status == hosting.Gone {
		return w, nil
	}
	if free, err := s.ClaimOpen(ctx, s.claimOf(w, w.object.Name)); err != nil || free {
		return w, err
	}
	history, err := s.store.ReadUntil(ctx, w.ref.Stream(), job.Version, time.Time{})
	if err != nil {
		return w, err
	}
	aside := w
	aside.row.Spec, aside.row.Wish = maps.Clone(w.row.Spec), job.Version
	maps.Copy(aside.row.Spec, w.kind.Naming(told(history)))
	if err := s.shape(ctx, &aside); err != nil {
		return w, err
	}
	free, err := s.ClaimOpen(ctx, s.claimOf(aside, aside.object.Name))
	if err != nil || !free || aside.object.Name == w.object.Name {
		return w, err
	}
	return aside, nil
}

// contested is the answer to a claim that another resource has already. As long
// as that one has something to do it comes first. When it has not, it keeps the
// name if anything has it at the engine. Otherwise its claim expires.
func (s *Panel) contested(ctx context.Context, c sagas.Contest) error {
	kind, id, _ := strings.Cut(c.Holder, "-")
	holder := refOf(domain.Stream{Category: kind, ID: id})
	row, err := s.tables.For(projections.System).Recorded(ctx, holder)
	if err != nil {
		return err
	}
	if row[holder].SyncStatus == "pending" {
		return sagas.Await(holder.Stream(), "name_leaving", 0)
	}
	found := true // what a hypervisor has is named after our own numbers
	if c.Claim.Server == s.engine.Server() {
		_, found, err = s.engine.Find(ctx, c.Claim.Kind, c.Claim.Name, "")
	}
	switch left := c.Quarantine - c.Idle; {
	case err != nil:
		return sagas.NothingSent(err)
	case found:
		return errNotOurs
	case left > 0:
		return sagas.TooEarly("quarantine", left)
	}
	return s.ExpireClaim(ctx, c)
}
