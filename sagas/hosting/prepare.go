package hosting

import (
	"context"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// Prepare completes a draft and checks what its fields alone do not tell: whose
// the record is, where its references lead, which names are taken, and what its
// kind demands. What is wrong is added to wrong. A new record gets its number.
func (s *Service) Prepare(ctx context.Context, by projections.Caller, d *hosting.Draft, wrong *field.Errors) error {
	if err := s.PrepareOwner(ctx, by, d, wrong); err != nil {
		return err
	}
	settleSubTenant(by, d, wrong)
	if err := (subTenants{s}).mayBrand(ctx, by, d); err != nil {
		return err
	}
	place := s.placeOf(by, d)
	for _, r := range d.Kind.Refs {
		row, err := s.referred(ctx, by, d, r, wrong)
		if err != nil {
			return err
		}
		if row != nil && r.Parent {
			d.Tenant, place.Tenant, place.Parent = row.Tenant, row.Tenant, row.Spec
		}
		if row != nil && d.Kind.Owner && r.Kind == d.Kind.Name {
			place.Parent = row.Spec
		}
	}
	if d.IsNew() && len(*wrong) == 0 {
		id, err := s.nextID(ctx, d.Kind.Name)
		if err != nil {
			return err
		}
		d.ID, place.ID = id, id
	}
	return s.prepareIn(ctx, d, place, wrong)
}

// prepareIn completes a record and checks it against its place. Limits are
// looked at only when nothing is wrong with it.
func (s *Service) prepareIn(ctx context.Context, d *hosting.Draft, place hosting.Place, wrong *field.Errors) error {
	d.HasDerivedSlug = hosting.TextIn(d.Spec, "slug") == ""
	if err := s.surroundings(ctx, d, &place); err != nil {
		return err
	}
	hosting.Complete(d.Spec, place)
	if err := s.neighbours(ctx, d, &place); err != nil {
		return err
	}
	hosting.Check(d.Spec, place, wrong)
	if err := s.checkNames(ctx, d, wrong); err != nil {
		return err
	}
	if err := s.checkClaim(ctx, d, place, wrong); err != nil {
		return err
	}
	if err := s.checkSets(ctx, d, wrong); err != nil || len(*wrong) > 0 {
		return err
	}
	if s.checkForm(ctx, d, place, wrong); len(*wrong) > 0 {
		return nil
	}
	if isStillHalted(d) {
		return hosting.ErrSiteInactive
	}
	return s.checkLimit(ctx, d)
}

// isStillHalted reports whether a record is to be switched on whose site is in
// the bin.
func isStillHalted(d *hosting.Draft) bool {
	return string(d.Changes()["is_active"]) == "true" && slices.Contains(d.DisabledBy, hosting.BySite)
}

// PrepareOwner settles whose a new record is. A tenant named by a caller who
// may not name one is ignored.
func (s *Service) PrepareOwner(ctx context.Context, by projections.Caller, d *hosting.Draft, wrong *field.Errors) error {
	if !d.Kind.Own() {
		return nil
	}
	if !by.Superuser && d.Kind.Writers != hosting.Admin {
		*wrong = slices.DeleteFunc(*wrong, func(one field.Wrong) bool { return one.Field == "tenant" })
		d.Tenant = by.Tenant
	}
	if !d.IsNew() {
		return nil
	}
	return s.SettleTenant(ctx, by, d.Sent, &d.Tenant, wrong)
}

// SettleTenant is whose a new record is: the caller's tenant, unless a
// superuser names another in the request.
func (s *Service) SettleTenant(ctx context.Context, by projections.Caller, sent field.Set, tenant *int64, wrong *field.Errors) error {
	switch {
	case wrong.Has("tenant"):
		return nil
	case *tenant == 0 && sent.Has("tenant"):
		wrong.Add("tenant", field.NoSuchPK(0))
		return nil
	case *tenant == 0 && by.Tenant == 0:
		wrong.Add("tenant", field.Missing)
		return nil
	case *tenant == 0:
		*tenant = by.Tenant
	}
	if !by.Superuser && *tenant != by.Tenant {
		wrong.Add("tenant", field.NoSuchPK(*tenant))
		return nil
	}
	_, err := s.system().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: *tenant})
	return saying(wrong, "tenant", *tenant, err)
}

// saying adds that a reference leads nowhere, if that is what err is about.
func saying(wrong *field.Errors, name string, id int64, err error) error {
	if isMissing(err) {
		wrong.Add(name, field.NoSuchPK(id))
		return nil
	}
	return err
}

// refersStill reports whether a reference leads where it did before. What is
// there may be in the bin by now.
func refersStill(d *hosting.Draft, r hosting.Reference) bool {
	_, changed := d.Changes()[r.Field]
	return !d.IsNew() && !changed
}

// referred is the record to which a reference leads; nil: none. One of another
// tenant does not exist.
func (s *Service) referred(
	ctx context.Context, by projections.Caller, d *hosting.Draft, r hosting.Reference, wrong *field.Errors,
) (*projections.Resource, error) {
	id := hosting.NumberIn(d.Spec, r.Field)
	if id == 0 && !d.Sent.Has(r.Field) || wrong.Has(r.Field) || isNull(d.Spec, r.Field) {
		return nil, nil
	}
	if refersStill(d, r) {
		rows, err := s.system().Hosting().Among(ctx, r.Kind, []int64{id})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return &rows[0], nil
	}
	other, _ := hosting.KindNamed(r.Kind)
	scope := s.Tables.For(by)
	if other.Shared { // readable for all
		scope = s.system()
	}
	row, err := scope.Hosting().Resource(ctx, hosting.Ref{Kind: r.Kind, ID: id})
	foreign, closed := !r.Parent && other.Own() && row.Tenant != d.Tenant, other.Shared && !row.Active
	if err == nil && (foreign || closed) {
		err = missing(r.Kind)
	}
	if err != nil {
		return nil, saying(wrong, r.Field, id, err)
	}
	return &row, nil
}

func isNull(spec hosting.Spec, name string) bool {
	f, _ := spec.Fields().Named(name)
	id, mayBe := f.Value().(*int64)
	return mayBe && id == nil
}
