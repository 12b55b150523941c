package hosting

import (
	"context"
	"slices"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// checkNames adds which names others have, so that all that is wrong is said
// at once. The database decides again when the change is written.
func (s *Service) checkNames(ctx context.Context, d *hosting.Draft, wrong *field.Errors) error {
	changed := d.Changes()
	for _, name := range d.Kind.Unique {
		text := hosting.TextIn(d.Spec, name)
		if _, isNew := changed[name]; !isNew || text == "" || wrong.Has(name) {
			continue
		}
		taken, err := s.system().Hosting().NameTaken(ctx, d.Kind.Name, name, text)
		if err != nil {
			return err
		}
		switch {
		case taken && name == "slug" && d.HasDerivedSlug:
			if err := ownSlug(d); err != nil {
				return err
			}
		case taken:
			wrong.Add(name, field.AlreadyExists(d.Kind.Label, strings.ReplaceAll(name, "_", " ")))
		}
	}
	return nil
}

// checkSets adds which sets of fields another record has in common with this
// one. Sets of several fields are compared once all fields are right.
func (s *Service) checkSets(ctx context.Context, d *hosting.Draft, wrong *field.Errors) error {
	right := len(*wrong) == 0
	for i, set := range d.Kind.Sets {
		if !isSent(d, set) || !right && (len(set) > 1 || wrong.Has(set[0])) {
			continue
		}
		taken, err := s.system().Hosting().SetTaken(ctx, d.Kind, i, d.ID, d.Tenant, d.Spec.Fields().Values())
		if err != nil {
			return err
		}
		if refusal := d.Kind.NotUnique(set); taken && !wrong.Says(refusal) {
			wrong.Join(refusal)
		}
	}
	return nil
}

// isSent reports whether a request brings new values of a set. The tenant
// counts only of sets without other fields. A set with derived values alone is
// left to the database.
func isSent(d *hosting.Draft, set []string) bool {
	if len(set) == 1 && set[0] == "tenant" {
		return d.IsNew()
	}
	changed := d.Changes()
	return slices.ContainsFunc(set, func(name string) bool {
		_, isNew := changed[name]
		return isNew && name != "tenant" && d.Sent.Has(name)
	})
}

// ownSlug gives a record whose name others have too a slug of its own.
func ownSlug(d *hosting.Draft) error {
	slug := field.OwnSlug(hosting.TextIn(d.Spec, "name"), d.ID)
	return d.Spec.Fields().Load(field.Values{"slug": field.AppendText(nil, slug)})
}
