package hosting

import (
	"context"
	"maps"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// checkForm adds the fields whose values the engine does not take. An engine that is
// asked for something and does not answer in time refuses nothing here: it refuses
// the object later.
func (s *Service) checkForm(ctx context.Context, d *hosting.Draft, place hosting.Place, wrong *field.Errors) {
	changed := d.Changes()
	if s.Forms == nil || !d.Kind.Works() || len(changed) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, glimpse)
	defer cancel()
	o := d.Kind.Object(d.ID, d.Spec.Fields().Values(), place.Parent)
	o.Secrets, o.Owner, o.ByOperator = hosting.Secrets{}, place.Client, place.Operator
	for _, name := range d.Kind.Secrets() {
		if _, isNew := changed[name]; isNew {
			o.Secrets[name] = hosting.TextIn(d.Spec, name)
		}
	}
	if !d.IsNew() {
		o.Changed = slices.Sorted(maps.Keys(changed))
	}
	refused, _ := s.Forms.CheckForm(ctx, o) // with an error, what is known without the engine
	for _, one := range refused {
		for _, message := range one.Messages {
			wrong.Add(one.Field, message)
		}
	}
}
