package notifications

import (
	"context"
	"net/url"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// preferencesPage is the form of what the user wants to hear of. It has the fields of the
// API and does the same.
func (s *handlers) preferencesPage() web.FormPage {
	return web.FormPage{Show: s.showPreferences, Forms: map[string]web.FormHandler{"preferences": s.takePreferences}}
}

func (s *handlers) showPreferences(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	p, err := s.preferences(ctx, c)
	if err != nil {
		return nil, err
	}
	inputs := append(web.RecordInputs(p.Fields(), field.Patch), web.VersionInput(p.Fields()))
	form := web.Form{Name: "preferences", Action: web.PreferencesPath, Inputs: inputs}
	return s.Sheet(c, back.StatusOf(), "own_preferences", "preferences_title", map[string]any{"Form": s.Fill(c, form, back), "Wide": true})
}

func (s *handlers) takePreferences(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	p, err := s.preferences(ctx, c)
	if err != nil {
		return nil, err
	}
	if c, err = web.Unchanged(c, sent, p.Fields()); err != nil {
		return nil, err
	}
	if c, err = web.ReadRecord(ctx, c, p, p.Fields(), p.Fields(), sent, field.Patch, nothingMore); err != nil {
		return nil, err
	}
	if _, err := s.setPreferences(ctx, c, p); err != nil {
		return nil, err
	}
	return s.Done(web.PreferencesPath, "preferences"), nil
}

// nothingMore is wrong with preferences besides their fields.
func nothingMore(context.Context, route.Call, *preferences, *field.Errors) error { return nil }
