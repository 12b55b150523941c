package notices

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// The link in a mail also leads to all preferences of its reader, without a sign-in
// (docs/notifications.md, "Unsubscribing").

const (
	choicePart = "preferences/"
	choicePath = unsubscribePath + choicePart
	choiceForm = "preferences"
)

// choiceRoutes are the page with all preferences of the reader of a mail.
func (s *Area) choiceRoutes() []route.Route {
	return []route.Route{
		route.View(http.MethodGet, choicePath, "What the reader of a mail wants to hear of", s.showChoice).
			As("unsubscribe_preferences_page"),
		route.View(http.MethodPost, choicePath, "Change what the reader of a mail wants to hear of", s.takeChoice).
			As("unsubscribe_preferences"),
	}
}

func (s *Area) showChoice(ctx context.Context, c route.Call) (*route.Document, error) {
	u, err := s.unsubscription(ctx, c)
	if err != nil {
		return s.wrongLink(c, err)
	}
	return s.choicePage(ctx, c, u, nil)
}

// choicePage shows the preferences. The last superuser who gets alarms is asked to confirm
// that they stop.
func (s *Area) choicePage(ctx context.Context, c route.Call, u notice.Unsubscription, back *web.Returned) (*route.Document, error) {
	wishes, _, err := s.Callers.System().Notices().Preferences(ctx, u.User)
	if err != nil {
		return nil, err
	}
	asked, err := s.askedOfTheLast(ctx, u.User)
	if err != nil {
		return nil, err
	}
	inputs := slices.Concat(
		[]web.Input{{Name: "form", Type: "hidden", Value: choiceForm}}, web.RecordInputs(wishes.Fields(), field.Patch),
		asked,
	)
	form := web.Form{Name: choiceForm, Action: c.Path, Inputs: inputs}.In(web.Readers(c), back)
	return web.Secluded(s.Web.Sheet(c, back.StatusOf(), "preferences", "preferences_title", map[string]any{"Form": form}))
}

// takeChoice sets all preferences. The link is the proof, so the form asks for no more.
func (s *Area) takeChoice(ctx context.Context, c route.Call) (*route.Document, error) {
	u, err := s.unsubscription(ctx, c)
	if err != nil {
		return s.wrongLink(c, err)
	}
	sent, err := c.Form()
	if err != nil {
		return nil, err
	}
	var wishes notice.Preferences
	set, err := wishes.Fields().Decode(web.Body(wishes.Fields(), sent, field.Patch), field.Patch)
	wrong := field.ErrorsOf(err)
	if err != nil && len(wrong) == 0 {
		return nil, err
	}
	if err := s.checkChoice(ctx, u, sent, wishes, &wrong); err != nil {
		return nil, err
	}
	if len(wrong) > 0 {
		return s.choicePage(ctx, c, u, &web.Returned{Form: choiceForm, Sent: sent, Wrong: wrong, Status: http.StatusBadRequest})
	}
	cause := c.Cause()
	cause.Actor = u.Actor()
	if _, err := s.Commands.Execute(
		ctx, cause, notice.SetPreferences{User: u.User, Values: set.Values(), Through: notice.ThroughLink},
	); err != nil {
		return nil, err
	}
	return web.Secluded(s.Web.Done(c.Path, choiceForm), nil)
}

// checkChoice refuses bodies that the page did not send, as mail programs send them, and
// alarms that end without being confirmed.
func (s *Area) checkChoice(
	ctx context.Context, u notice.Unsubscription, sent url.Values, wishes notice.Preferences, wrong *field.Errors,
) error {
	if sent.Get("form") != choiceForm {
		wrong.Add("form", "Send the form of the page.")
		return nil
	}
	return s.checkAlarms(ctx, u.User, sent, wishes, wrong)
}
