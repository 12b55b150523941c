package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// What is deleted of a kind with a bin is gone for all but operators, who may
// bring it back exactly as it was (docs/hosting.md, "Disabled and in the bin").

// Restore brings a record in the bin back, with all of its parts.
func (s *Service) Restore(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error) {
	resigning, err := s.resigning(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	parts, err := s.eachPart(ctx, d, func(part hosting.Ref) domain.Command { return hosting.Enable{Ref: part, By: hosting.BySite} })
	if err != nil {
		return domain.Receipt{}, err
	}
	receipt, err := s.carry(ctx, cause, by, d, nil, append(append(resigning, hosting.Restore{Ref: d.Ref()}), parts...)...)
	return receipt, s.InNumbers(ctx, d, err)
}

// evicting removes from the bin what has the name there that the record is to
// have.
func (s *Service) evicting(ctx context.Context, d *hosting.Draft) (commands []domain.Command, err error) {
	if _, isNew := d.Changes()[d.Kind.Called]; !d.Kind.Soft || !isNew {
		return nil, nil
	}
	binned, err := s.system().Hosting().Binned(ctx, d.Kind, hosting.TextIn(d.Spec, d.Kind.Called))
	for _, row := range binned {
		parts, err := removeParts(ctx, s.system(), d.Kind, row.ID)
		if err != nil {
			return nil, err
		}
		commands = append(append(commands, hosting.Remove{Ref: row.Ref()}), parts...)
	}
	return commands, err
}
