package operations

import (
	"cmp"
	"context"
	"net/http"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

func (s *reports) listSettings(context.Context, route.Call) ([]settingEntry, error) {
	all := s.inForce()
	entries := make([]settingEntry, len(all))
	for i, one := range all {
		entries[i] = settingEntry{one}
	}
	return entries, nil
}

// A settingEntry is a setting as the process runs with it.
type settingEntry struct{ operations.Setting }

// Fields are the setting.
func (e *settingEntry) Fields() field.Set {
	value := &e.Value
	if e.IsSecret {
		value = nil
	}
	return field.Set{
		field.Text("name", &e.Name).ReadOnly().Doc("Of its environment variable."),
		field.NullText("value", &value).ReadOnly().Doc("In force, without passwords in addresses. Null: it is a secret."),
		field.Flag("is_secret", &e.IsSecret).ReadOnly(),
		field.Flag("is_set", &e.IsSet).ReadOnly().Doc("Whether it was given. Otherwise the value is the default."),
		field.Text("about", &e.About).ReadOnly(),
	}
}

// A settingRow is a setting on the page.
type settingRow struct {
	Name, Value, Origin string
	IsSet               bool
}

// showSettings is the page of the settings in force (docs/operations.md, "In the browser").
func (s *reports) showSettings(ctx context.Context, c route.Call) (*route.Document, error) {
	all, err := s.listSettings(ctx, c)
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	rows := make([]settingRow, len(all))
	for i, one := range all {
		row := settingRow{Name: one.Name, Value: cmp.Or(one.Value, w["setting_empty"]), Origin: w["setting_default"], IsSet: one.IsSet}
		switch {
		case one.IsSecret:
			row.Value, row.Origin = w["setting_secret"], w["setting_unset"]
			if one.IsSet {
				row.Origin = w["setting_set"]
			}
		case one.IsSet:
			row.Origin = w["setting_given"]
		}
		rows[i] = row
	}
	return s.web.Sheet(c, http.StatusOK, "settings", "settings_title", map[string]any{"Settings": rows, "Wide": true})
}
