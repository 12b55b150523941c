package hosting

import (
	"context"
	"encoding/json"
	"maps"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// Change makes a record what its prepared draft says.
func (s *Service) Change(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error) {
	resigning, err := s.resigning(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	evicting, err := s.evicting(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	led, err := s.led(ctx, d)
	if err != nil {
		return domain.Receipt{}, err
	}
	if err := makeKeys(d); err != nil {
		return domain.Receipt{}, err
	}
	secrets := seal(d)
	commands := append(append(resigning, evicting...), hosting.Change{Ref: d.Ref(), Spec: d.Changes(), Act: d.Act})
	receipt, err := s.carry(ctx, cause, by, d, secrets, append(commands, led...)...)
	return receipt, s.InNumbers(ctx, d, err)
}

// led are the changes of the parts that follow from the record, as the proxy of
// a site follows its domain and address.
func (s *Service) led(ctx context.Context, d *hosting.Draft) (commands []domain.Command, err error) {
	kind, values := hosting.Led(d.Spec)
	for _, child := range d.Kind.Children() {
		if child.Kind.Name != kind {
			continue
		}
		parts, err := s.system().Hosting().PartsOf(ctx, kind, child.By, d.ID)
		if err != nil {
			return nil, err
		}
		for _, part := range parts {
			changed := maps.Clone(values)
			maps.DeleteFunc(changed, func(name string, value json.RawMessage) bool { return string(value) == string(part.Spec[name]) })
			commands = append(commands, hosting.Change{Ref: part.Ref(), Spec: changed})
		}
	}
	return commands, nil
}

// change sets one field of a row, in JSON.
func change(row projections.Resource, name, value string) hosting.Change {
	return hosting.Change{Ref: row.Ref(), Spec: field.Values{name: []byte(value)}}
}
