package hosting

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
)

// PrepareSite surveys what is to be made for a site. What is wrong is looked at
// once more: another call may have asked for the same meanwhile.
func (s *Service) PrepareSite(ctx context.Context, by projections.Caller, o *hosting.SiteOrder, wrong *field.Errors) error {
	if err := s.PrepareOwner(ctx, by, o.Owner, wrong); err != nil || len(*wrong) > 0 {
		return err
	}
	err := s.survey(ctx, by, o, wrong)
	if isOverQuota(err) || err == nil && len(*wrong) > 0 {
		*wrong = nil
		err = s.survey(ctx, by, o, wrong)
	}
	return err
}

// ProvisionFull asks for all pieces that are missing, in one append. When
// other calls were faster it surveys them once more: perhaps they have asked
// for the same. The function located is told the number of the site before.
func (s *Service) ProvisionFull(
	ctx context.Context, cause hosting.Cause, by projections.Caller, o *hosting.SiteOrder, located func(site int64),
) (domain.Versions, error) {
	versions, err := s.askFor(ctx, cause, by, o, located)
	if len(field.ErrorsOf(err)) > 0 {
		var wrong field.Errors
		if err = errors.Join(s.survey(ctx, by, o, &wrong), wrong.Err()); err == nil {
			versions, err = s.askFor(ctx, cause, by, o, located)
		}
	}
	if err != nil {
		return nil, refusedSite(ctx, s, o, err)
	}
	return versions, nil
}

// KnownPieces are the pieces of a site order that there are.
func (s *Service) KnownPieces(ctx context.Context, o *hosting.SiteOrder) error {
	o.Public = s.SiteAddresses
	for _, step := range hosting.SiteSteps {
		for _, wanted := range demands[step](o) {
			one, err := s.known(ctx, o, wanted)
			if err != nil {
				return err
			}
			if one != nil {
				one.Step = step
				o.Pieces = append(o.Pieces, one)
			}
		}
	}
	return nil
}

// survey finds which pieces there are, and checks those that are to be made as
// if each were asked for alone. Limits come last: a tenant that has too much is
// told so only if nothing else is wrong.
func (s *Service) survey(ctx context.Context, by projections.Caller, o *hosting.SiteOrder, wrong *field.Errors) error {
	var full error
	o.Pieces, o.Public = nil, s.SiteAddresses
	for _, step := range hosting.SiteSteps {
		if !o.Asked[step] {
			continue
		}
		for _, wanted := range demands[step](o) {
			one, err := s.piece(ctx, by, o, wanted, wrong)
			if isOverQuota(err) {
				full = cmp.Or(full, err)
			} else if err != nil {
				return err
			}
			one.Step = step
			o.Pieces = append(o.Pieces, one)
		}
	}
	if zone := o.First("dns_zone"); zone != nil && zone.Missing && len(o.Addresses()) == 0 {
		wrong.Add("ip_address", hosting.NoPublicAddress)
	}
	if len(*wrong) > 0 {
		return nil
	}
	return full
}

// askFor asks for all pieces that are missing.
func (s *Service) askFor(
	ctx context.Context, cause hosting.Cause, by projections.Caller, o *hosting.SiteOrder, located func(site int64),
) (domain.Versions, error) {
	site, secrets := o.Pieces[0], map[uuid.UUID]string{}
	located(site.ID)
	var commands []domain.Command
	if !site.Missing {
		commands = append(commands, hosting.Change{Ref: site.Ref()}) // to nothing else, so that the call is one if all is there
	}
	for _, one := range o.Pieces {
		if !one.Missing {
			continue
		}
		maps.Copy(secrets, seal(one.Draft))
		asking, err := s.asking(ctx, one.Draft)
		if err != nil {
			return nil, err
		}
		commands = append(commands, asking...)
	}
	commands, err := s.disableInSuspended(ctx, by, site.Tenant, commands)
	if err != nil {
		return nil, err
	}
	receipt, err := s.Resources.Carry(ctx, cause(nil), secrets, commands...)
	return receipt.Versions, err
}

// asking asks for a piece, and clears its name.
func (s *Service) asking(ctx context.Context, d *hosting.Draft) ([]domain.Command, error) {
	commands, err := s.evicting(ctx, d)
	if err != nil {
		return nil, err
	}
	request, err := s.request(ctx, d)
	return append(commands, request), err
}

// refusedSite says what other calls were faster with.
func refusedSite(ctx context.Context, s *Service, o *hosting.SiteOrder, err error) error {
	for _, one := range o.Pieces {
		if !one.Missing || !isOverQuota(err) {
			continue
		}
		used, most, counted := s.limit(ctx, one.Draft)
		if counted != nil {
			return counted
		}
		if most != hosting.Unlimited && used >= most {
			return hosting.LimitReached(one.Kind.Counted(), used, most)
		}
	}
	if own := field.ErrorsOf(err); len(own) > 0 && !isOverQuota(err) {
		var wrong field.Errors
		tellOfDomain(own, &wrong)
		return wrong
	}
	return err
}

// piece is the record that is there, or else a new one.
func (s *Service) piece(
	ctx context.Context, by projections.Caller, o *hosting.SiteOrder, wanted demand, wrong *field.Errors,
) (*hosting.Piece, error) {
	one, err := s.known(ctx, o, wanted)
	if one != nil || err != nil {
		return one, err
	}
	kind, _ := hosting.KindNamed(wanted.kind)
	one = &hosting.Piece{Draft: hosting.NewDraft(kind), Missing: true}
	one.Tenant = o.Owner.Tenant
	if wanted.secret != "" {
		one.Password = credentials.NewPassword()
		wanted.fields[wanted.secret] = one.Password
	}
	var parent field.Values
	if of, is := kind.Parent(); is {
		parent = o.First(of.Kind).Spec.Fields().Values()
	}
	return one, s.fill(ctx, by, one.Draft, wanted, parent, wrong)
}

// known is the record that is there already; nil: there is none.
func (s *Service) known(ctx context.Context, o *hosting.SiteOrder, wanted demand) (*hosting.Piece, error) {
	kind, _ := hosting.KindNamed(wanted.kind)
	if parent, is := kind.Parent(); is {
		of := o.First(parent.Kind)
		if of == nil {
			return nil, nil
		}
		wanted.fields[parent.Field] = of.ID
	}
	row, err := s.there(ctx, kind, o.Owner.Tenant, wanted)
	if row == nil || err != nil {
		return nil, err
	}
	d, err := row.Draft()
	return &hosting.Piece{Draft: d}, err
}

// fill makes a new record of a demand. What is wrong with it is wrong with the
// domain, which is all that the caller has sent of it.
func (s *Service) fill(
	ctx context.Context, by projections.Caller, d *hosting.Draft, wanted demand, parent field.Values,
	wrong *field.Errors,
) (err error) {
	body, err := json.Marshal(wanted.fields)
	if err != nil {
		return err
	}
	if d.ID, err = s.nextID(ctx, d.Kind.Name); err != nil {
		return err
	}
	d.Sent, err = d.Spec.Fields().DecodeJSON(body, field.Create)
	own := field.ErrorsOf(err)
	place := s.placeOf(by, d)
	place.Parent = parent
	err = s.prepareIn(ctx, d, place, &own)
	tellOfDomain(own, wrong)
	return err
}

// tellOfDomain adds what is wrong with a record to what is wrong with the
// order, in the names of its fields.
func tellOfDomain(own field.Errors, wrong *field.Errors) {
	for _, w := range own {
		name := "domain"
		if slices.Contains([]string{"tenant", "ip_address", field.NonField}, w.Field) {
			name = w.Field
		}
		for _, message := range w.Messages {
			if !wrong.Says(domain.RefuseField(name, message)) { // the same of several pieces is said once
				wrong.Add(name, message)
			}
		}
	}
}
