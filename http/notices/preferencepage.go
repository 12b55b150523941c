package notices

import (
	"context"
	"errors"
	"net/url"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

func (s *Area) showPreferences(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	p, err := s.preferences(ctx, c)
	if err != nil {
		return nil, err
	}
	asked, err := s.askedOfTheLast(ctx, p.user)
	if err != nil {
		return nil, err
	}
	inputs := slices.Concat(web.RecordInputs(p.Fields(), field.Patch), asked, []web.Input{web.VersionInput(p.Fields())})
	form := web.Form{Name: "preferences", Action: web.PreferencesPath, Inputs: inputs}
	return s.Web.Sheet(
		c, back.StatusOf(), "own_preferences", "preferences_title",
		map[string]any{"Form": s.Web.Fill(c, form, back), "Wide": true},
	)
}

func (s *Area) takePreferences(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
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
	var wrong field.Errors
	if err := errors.Join(s.checkAlarms(ctx, p.user, sent, p.Preferences, &wrong), wrong.Err()); err != nil {
		return nil, err
	}
	if _, err := s.setPreferences(ctx, c, p); err != nil {
		return nil, err
	}
	return s.Web.Done(web.PreferencesPath, "preferences"), nil
}

// nothingMore is wrong with preferences besides their fields.
func nothingMore(context.Context, route.Call, *preferences, *field.Errors) error { return nil }

// askedOfTheLast is what the form asks besides of the last superuser who gets alarms: a
// confirmation that they end.
func (s *Area) askedOfTheLast(ctx context.Context, user int64) ([]web.Input, error) {
	if last, err := s.hearsAlone(ctx, user); err != nil || !last {
		return nil, err
	}
	return []web.Input{{Name: "no_alarms", Type: "check"}}, nil
}

// checkAlarms refuses alarms that end without being confirmed.
func (s *Area) checkAlarms(ctx context.Context, user int64, sent url.Values, wishes notice.Preferences, wrong *field.Errors) error {
	if wishes.Mails(notice.System) || sent.Get("no_alarms") == "true" {
		return nil
	}
	last, err := s.hearsAlone(ctx, user)
	if last {
		wrong.Add("no_alarms", "No other operator gets mails about alarms. Confirm that they end.")
	}
	return err
}
