package accounts

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// pages are where people come in and go out (docs/accounts.md, "Pages").
func (s *entrance) pages() route.Area {
	login := web.FormPage{Show: s.showLogin, Forms: map[string]web.FormHandler{
		"sign_in": s.enter, "code": s.giveCode, "other_user": s.beginAgain,
	}}
	for name, email := range s.demo {
		login.Forms[name] = func(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
			return s.enterDemo(ctx, c, email, sent)
		}
	}
	leave := web.FormPage{Show: s.showLeave, Forms: map[string]web.FormHandler{"sign_out": s.leave}}
	reset := web.FormPage{Show: s.passwords.showReset, Forms: map[string]web.FormHandler{"reset": s.passwords.sendLink}}
	return route.Area{
		Name: "Entrance", Access: s.callers.Browser(),
		About: "Where people sign in and out in a browser.",
		Routes: []route.Route{
			web.View("/", "Where everybody begins: on to the page that is theirs", s.start).As("start"),
			web.View(caller.LoginPath, "The page to sign in", login.Look).As("login_page"),
			s.web.Press(caller.LoginPath, "Sign in", login).As("login"),
			s.web.Press(web.LogoutPath, "Sign out", leave).As("logout"),
			web.View(web.ResetPath, "The page to ask for a new password", reset.Look).As("password_reset_page"),
			s.web.Press(web.ResetPath, "Ask for a link to set a new password", reset).As("password_reset_form"),
		},
	}
}

// start sends everybody to the page that is theirs.
func (s *entrance) start(_ context.Context, c route.Call) (*route.Document, error) {
	if v := caller.VisitOf(c); v.IsSignedIn() {
		return web.SeeOther(web.HomeOf(v.Who.User)), nil
	}
	return web.SeeOther(caller.LoginPath), nil
}

func (s *entrance) showLogin(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	next, v := web.LocalPath(c.Param("next")), caller.VisitOf(c)
	if v.IsSignedIn() && back == nil {
		return web.SeeOther(cmp.Or(next, web.HomeOf(v.Who.User))), nil
	}
	_, waits, err := s.sessions.PendingSignIn(ctx, v.ID)
	if err != nil {
		return nil, err
	}
	if waits && (back == nil || back.Form == "code") {
		return s.showCode(c, next, back)
	}
	inputs := []web.Input{
		{Name: "username", Autocomplete: "username", Required: true, Plain: true, Focus: true},
		{Name: "password", Type: "password", Autocomplete: "current-password", Required: true},
		{Name: "next", Type: "hidden", Value: next},
	}
	if s.callers.MayStay() {
		inputs = append(inputs, web.Input{Name: "stay", Type: "check"})
	}
	return s.web.Sheet(c, back.StatusOf(), "login", "login_title", map[string]any{"Form": s.web.Fill(c, web.Form{
		Name: "sign_in", Action: caller.LoginPath, Inputs: inputs,
	}, back), "Demo": s.demoForms(c, next, back)})
}

// demoForms are the buttons of a demo, for this machine alone.
func (s *entrance) demoForms(c route.Call, next string, back *web.Returned) (all []web.Form) {
	if !caller.IsThisMachine(c.IP, c.Host, c.Header) {
		return nil
	}
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(s.demo))) { // the operator first
		all = append(all, s.web.Fill(c, web.Form{
			Name: name, Action: caller.LoginPath, Inputs: []web.Input{{Name: "next", Type: "hidden", Value: next}},
		}, back))
	}
	return all
}

// enterDemo signs in by a button of the demo. An account with a second factor needs its
// password and code.
func (s *entrance) enterDemo(ctx context.Context, c route.Call, email string, sent url.Values) (*route.Document, error) {
	if !caller.IsThisMachine(c.IP, c.Host, c.Header) {
		return nil, route.NoPermission
	}
	user, known, err := s.callers.System().Accounts().UserByEmail(ctx, email)
	if err != nil {
		return nil, err
	}
	if !known || !user.IsActive || user.SecondFactor {
		return nil, domain.Refuse(domain.Conflict, "This account signs in with its password only.")
	}
	return s.open(ctx, c, user, sent)
}

// showCode is the second step, after a right password.
func (s *entrance) showCode(c route.Call, next string, back *web.Returned) (*route.Document, error) {
	return s.web.Sheet(c, back.StatusOf(), "login_code", "code_title", map[string]any{"Form": s.web.Fill(c, web.Form{
		Name: "code", Action: caller.LoginPath, Inputs: []web.Input{
			{Name: "otp", Autocomplete: "one-time-code", Required: true, Plain: true, IsSecret: true, Focus: true, Long: 64},
			{Name: "next", Type: "hidden", Value: next},
			{Name: "stay", Type: "hidden", Value: c.Param("stay")},
		},
	}, back), "Again": s.web.Fill(c, web.Form{Name: "other_user", Action: caller.LoginPath}, nil)})
}

// enter signs a user in, or asks for the code of the second factor.
func (s *entrance) enter(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := web.Needed(sent, "username", "password"); err != nil {
		return nil, err
	}
	user, err := s.callers.Authenticate(
		ctx, c, caller.Proof{Username: sent.Get("username"), Password: sent.Get("password")}, account.ThroughPage,
	)
	if errors.Is(err, caller.CodeMissing) {
		return s.awaitCode(ctx, c, user, sent)
	}
	if err != nil {
		return nil, err
	}
	return s.open(ctx, c, user, sent)
}

// enterWith signs in a user who has just set the password. Users with a second factor are asked
// for its code. Where there were too many wrong passwords before, the login page is next.
func (s *entrance) enterWith(ctx context.Context, c route.Call, email, password string) (*route.Document, error) {
	user, err := s.callers.Authenticate(ctx, c, caller.Proof{Username: email, Password: password}, account.ThroughPage)
	var refusal *route.Refusal
	switch {
	case errors.Is(err, caller.CodeMissing):
		return s.awaitCode(ctx, c, user, url.Values{})
	case errors.As(err, &refusal):
		return s.web.Done(caller.LoginPath, "password_set"), nil
	case err != nil:
		return nil, err
	}
	return s.open(ctx, c, user, url.Values{})
}

// awaitCode leads to the second step. The browser gets a new id, which opens
// nothing but that.
func (s *entrance) awaitCode(ctx context.Context, c route.Call, user projections.User, sent url.Values) (*route.Document, error) {
	if err := s.endVisit(ctx, c); err != nil {
		return nil, err
	}
	id, err := s.sessions.BeginSignIn(ctx, user.ID, user.SessionVersion)
	if err != nil {
		return nil, err
	}
	path, kept := caller.LoginPath, url.Values{}
	if next := web.LocalPath(sent.Get("next")); next != "" {
		kept.Set("next", next)
	}
	if sent.Get("stay") == "true" {
		kept.Set("stay", "true")
	}
	if len(kept) > 0 {
		path += "?" + kept.Encode()
	}
	return web.SeeOther(path, s.callers.Cookie(caller.SessionCookie, id, 0)), nil
}

// giveCode completes a sign-in whose password was given before.
func (s *entrance) giveCode(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	pending, waits, err := s.sessions.PendingSignIn(ctx, caller.VisitOf(c).ID)
	if err != nil {
		return nil, err
	}
	user, known, err := s.callers.System().Accounts().Identity(ctx, pending.User)
	if err != nil {
		return nil, err
	}
	if !waits || !known || !user.IsActive || user.SessionVersion != pending.Version {
		return web.SeeOther(caller.LoginPath), s.endVisit(ctx, c)
	}
	if err := web.Needed(sent, "otp"); err != nil {
		return nil, err
	}
	if err := s.callers.Factor.Complete(ctx, c, user.User, sent.Get("otp"), account.ThroughPage); err != nil {
		return nil, err
	}
	return s.open(ctx, c, user.User, sent)
}

// beginAgain lets another user sign in at the browser.
func (s *entrance) beginAgain(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	return web.SeeOther(caller.LoginPath), s.endVisit(ctx, c)
}

// open signs a user in. The browser gets a new id, so that the former id opens
// nothing.
func (s *entrance) open(ctx context.Context, c route.Call, user projections.User, sent url.Values) (*route.Document, error) {
	if err := s.endVisit(ctx, c); err != nil {
		return nil, err
	}
	cookie, err := s.callers.OpenSession(ctx, user, sent.Get("stay") == "true")
	if err != nil {
		return nil, err
	}
	return web.SeeOther(cmp.Or(web.LocalPath(sent.Get("next")), web.HomeOf(user)), cookie), nil
}

// endVisit ends what the former id of the browser opens.
func (s *entrance) endVisit(ctx context.Context, c route.Call) error {
	id := caller.VisitOf(c).ID
	return errors.Join(s.sessions.EndSession(ctx, id), s.sessions.EndSignIn(ctx, id))
}

// showLeave asks again after an outdated form, unless the user has signed out
// already.
func (s *entrance) showLeave(_ context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	if !caller.VisitOf(c).IsSignedIn() {
		return web.SeeOther(caller.LoginPath), nil
	}
	return s.web.Sheet(c, back.StatusOf(), "leave", "sign_out_title", map[string]any{
		"Form": s.web.Fill(c, web.Form{Name: "sign_out", Action: web.LogoutPath}, nil),
	})
}

func (s *entrance) leave(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	if err := s.sessions.EndSession(ctx, caller.VisitOf(c).ID); err != nil {
		return nil, err
	}
	return s.web.Done(caller.LoginPath, "signed_out", s.callers.Cookie(caller.SessionCookie, "", -1)), nil
}
