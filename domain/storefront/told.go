package storefront

import (
	"encoding/json"
	"maps"

	"hostpanel/domain/field"
)

// Shows completes the fields of a plan.
func (o Offer) Shows(record map[string]json.RawMessage) { spread(record, o.Spec, new(Plan)) }

// Shows completes the fields of a widget.
func (f Form) Shows(record map[string]json.RawMessage) { spread(record, f.Spec, new(Widget)) }

// Shows completes the fields of a key.
func (k Key) Shows(record map[string]json.RawMessage) { spread(record, k.Spec, new(APIKey)) }

// spread puts the fields of a spec beside those around it, in the form in which the
// API shows them.
func spread(record map[string]json.RawMessage, spec field.Values, as field.Record) {
	delete(record, "spec")
	var shown map[string]json.RawMessage
	fields := as.Fields()
	if fields.Load(spec) == nil && json.Unmarshal(fields.AppendJSON(nil), &shown) == nil {
		maps.Copy(record, shown)
	}
}
