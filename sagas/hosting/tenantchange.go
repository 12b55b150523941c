package hosting

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// ChangeTenant makes a tenant what its prepared draft says. If its status is
// another one, its records follow it: they are switched off or on. When one of
// them is written at the same moment, again and again, the tenant goes ahead and
// its records follow later (docs/tenants.md, "Suspension").
func (s *Service) ChangeTenant(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error) {
	own := changesOf(d)
	following, err := s.following(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	receipt, err := s.carry(ctx, cause, by, d, nil, slices.Concat(own, following)...)
	if len(following) > 0 && domain.CodeOf(err) == domain.Conflict {
		receipt, err = s.carry(ctx, cause, by, d, nil, own...)
	}
	return receipt, err
}

// changesOf are the changes of the tenant itself.
func changesOf(d *hosting.Draft) []domain.Command {
	commands := []domain.Command{hosting.Change{Ref: d.Ref(), Spec: d.Changes()}}
	if d.IsTurned() && hosting.TextIn(d.Spec, "status") == hosting.Terminated {
		commands = append(commands, hosting.MoveToBin{Ref: d.Ref()})
	}
	return commands
}

// following are the changes of the tenant's records if its status is another
// one.
func (s *Service) following(ctx context.Context, d *hosting.Draft) ([]domain.Command, error) {
	if !d.IsTurned() {
		return nil, nil
	}
	rests := d.Spec.(*hosting.Tenant).OutOfService(d.DisabledBy...) //nolint:forcetypeassert // of the kind
	records, err := s.system().Hosting().OutOfStep(ctx, d.ID, rests, hosting.MostFollowing)
	return hosting.Following(rests, records), err
}

// disableInSuspended switches off what is made in a tenant that is off. Only superusers
// make anything there.
func (s *Service) disableInSuspended(
	ctx context.Context, by projections.Caller, tenant int64, commands []domain.Command,
) ([]domain.Command, error) {
	var made []hosting.Ref
	for _, command := range commands {
		request, is := command.(hosting.Request)
		if kind, _ := hosting.KindNamed(request.Kind); is && kind.CanBeDisabled {
			made = append(made, request.Ref)
		}
	}
	if len(made) == 0 || !by.Superuser && !by.System {
		return commands, nil
	}
	t, err := s.tenantOf(ctx, tenant)
	if err != nil || !t.spec.OutOfService(t.row.DisabledBy...) {
		return commands, err
	}
	return append(commands, hosting.Following(true, made)...), nil
}
