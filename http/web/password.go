package web

import (
	"context"
	"net/url"

	"hostpanel/domain"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// What cannot be undone, or gives rights away, asks for the password again,
// unless it was given a moment ago (docs/security.md, "Browser sessions"). The
// JSON APIs ask as well: see [caller.Callers.SuperuserConfirmed].

// AskAgain checks that the user at the browser now knows the password, which
// stands in a field of the form.
func (s *Renderer) AskAgain(ctx context.Context, c route.Call, name string, sent url.Values) error {
	if err := Needed(sent, name); err != nil {
		return err
	}
	right, err := s.Callers.Confirm(ctx, c, caller.VisitOf(c).Who.User, sent.Get(name))
	if err == nil && !right {
		err = domain.RefuseField(name, "The current password is wrong.")
	}
	return err
}

// PasswordInputs ask for the password in a form; none, if it was given a
// moment ago.
func (s *Renderer) PasswordInputs(c route.Call) []Input {
	v := caller.VisitOf(c)
	if s.Callers.IsFresh(v) {
		return nil
	}
	return []Input{
		{Name: "username", Type: "username", Value: v.Who.Email},
		{Name: "password", Type: "password", Autocomplete: "current-password", Required: true},
	}
}

// AskUnlessFresh checks the password of a form with [Renderer.PasswordInputs].
func (s *Renderer) AskUnlessFresh(ctx context.Context, c route.Call, sent url.Values) error {
	if s.Callers.IsFresh(caller.VisitOf(c)) {
		return nil
	}
	return s.AskAgain(ctx, c, "password", sent)
}

// RenewUnlessFresh gives the session a new id after the form was carried out.
// If that fails, the page is shown all the same: it may hold what is shown only
// once. The next form asks for the password again.
func (s *Renderer) RenewUnlessFresh(ctx context.Context, c route.Call, d *route.Document) {
	if s.Callers.IsFresh(caller.VisitOf(c)) {
		return
	}
	cookie, err := s.Callers.Renew(ctx, c)
	if err != nil {
		s.Callers.Log().WarnContext(ctx, "a session was not renewed", "request_id", c.RequestID, "err", err.Error())
		return
	}
	Giving(d, cookie)
}
