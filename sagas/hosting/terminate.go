package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// TerminateTenant puts a tenant into the bin with all that is its.
func (s *Service) TerminateTenant(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft,
) (domain.Receipt, error) {
	d.Spec.(*hosting.Tenant).Status = hosting.Terminated //nolint:forcetypeassert // of the kind
	hosting.Complete(d.Spec, s.placeOf(by, d))
	return s.ChangeTenant(ctx, cause, by, d)
}
