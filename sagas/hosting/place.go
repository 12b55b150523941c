package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// placeOf is where the record of a draft stands, as far as the draft tells.
func (s *Service) placeOf(by projections.Caller, d *hosting.Draft) hosting.Place {
	return hosting.Place{
		ID: d.ID, Tenant: d.Tenant, At: s.now(), Operator: by.Superuser, Sent: d.Sent, Before: d.Before(), Limits: hosting.NoLimits(),
	}
}

// surroundings adds what the installation and the tenant tell of a place.
func (s *Service) surroundings(ctx context.Context, d *hosting.Draft, place *hosting.Place) error {
	place.StyleSheet = s.StyleSheet
	place.Hosts, place.Engines = append(place.Hosts, s.hosts()...), s.Hosts
	place.NameServers = append(place.NameServers, s.NameServers...)
	if d.Kind.Owner {
		var err error
		place.Package, err = s.defaultPackage(ctx)
		return err
	}
	if d.Kind.Shared || d.Tenant == 0 {
		return nil
	}
	t, err := s.tenantOf(ctx, d.Tenant)
	if isMissing(err) {
		return nil // which has been said
	}
	if err != nil {
		return err
	}
	place.Client = domain.OrZero(t.row.EngineID)
	place.Limits, err = s.LimitsOf(ctx, &t.spec)
	return err
}

// LimitsOf are those of the tenant's package, or its own without one, with what its
// services have added.
func (s *Service) LimitsOf(ctx context.Context, t *hosting.Tenant) (hosting.Limits, error) {
	if t.Package == nil {
		return t.MayHave(t.Limits), nil
	}
	row, err := s.system().Hosting().Resource(ctx, hosting.Ref{Kind: "package", ID: *t.Package})
	if isMissing(err) {
		return t.MayHave(t.Limits), nil
	}
	if err != nil {
		return hosting.Limits{}, err
	}
	var p hosting.Package
	err = row.Load(&p)
	return t.MayHave(p.Allows()), err
}

// defaultPackage is what tenants get that name none; nil: nothing.
func (s *Service) defaultPackage(ctx context.Context) (*int64, error) {
	kind, _ := hosting.KindNamed("package")
	found, err := s.system().Hosting().OfKind(ctx, kind, projections.Listing{
		Filters: []projections.Filter{{Field: kind.Single, Op: "=", Value: true}}, Limit: 1,
	})
	if err != nil || len(found.Rows) == 0 {
		return nil, err
	}
	return &found.Rows[0].ID, nil
}

// neighbours adds the other records that the check compares this one with.
func (s *Service) neighbours(ctx context.Context, d *hosting.Draft, place *hosting.Place) (err error) {
	place.Beside, err = s.system().Hosting().Near(ctx, d.Ref(), d.Spec, d.Tenant)
	return err
}
