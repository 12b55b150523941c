package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// Remove removes a record with its parts. Kinds with a bin go there. A record
// to which others refer stays; with force, its own parts do not count.
func (s *Service) Remove(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, force bool,
) (domain.Receipt, error) {
	if err := s.unused(ctx, d, force); err != nil {
		return domain.Receipt{}, err
	}
	commands, err := s.removal(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	return s.carry(ctx, cause, by, d, nil, commands...)
}

// removal removes a record: into the bin, where its kind has one.
func (s *Service) removal(ctx context.Context, d *hosting.Draft) ([]domain.Command, error) {
	if d.Kind.Soft {
		disables, err := s.eachPart(ctx, d, func(part hosting.Ref) domain.Command { return hosting.Disable{Ref: part, By: hosting.BySite} })
		return append([]domain.Command{hosting.MoveToBin{Ref: d.Ref()}}, disables...), err
	}
	parts, err := s.eachPart(ctx, d, func(part hosting.Ref) domain.Command { return hosting.Remove{Ref: part} })
	return append([]domain.Command{hosting.Remove{Ref: d.Ref()}}, parts...), err
}

// eachPart makes a command for every part of the record.
func (s *Service) eachPart(
	ctx context.Context, d *hosting.Draft, command func(hosting.Ref) domain.Command,
) (commands []domain.Command, err error) {
	for _, child := range d.Kind.Children() {
		found, err := s.system().Hosting().PartsOf(ctx, child.Kind.Name, child.By, d.ID)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			commands = append(commands, command(row.Ref()))
		}
	}
	return commands, nil
}

// unused refuses to remove a record to which others refer.
func (s *Service) unused(ctx context.Context, d *hosting.Draft, force bool) error {
	if d.Kind.InUse == "" {
		return nil
	}
	for _, other := range d.Kind.Referrers() {
		if force && other.Kind.IsPartBy(other.By) {
			continue
		}
		n, err := s.system().Hosting().Referring(ctx, other.Kind.Name, other.By, d.ID)
		if err != nil {
			return err
		}
		if n > 0 {
			return &domain.Error{Code: domain.Conflict, Reason: "in_use", Message: d.Kind.InUse}
		}
	}
	return nil
}
