package http

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

const (
	logoutPath = "/logout/"
	resetPath  = "/password-reset/"
)

// entrance is where people come in and go out (docs/accounts.md, "Pages").
func (s *Server) entrance() route.Area {
	login, leave, reset := s.loginDesk(), s.leaveDesk(), s.resetDesk()
	return route.Area{
		Name: "Entrance", Access: s.browser(),
		About: "Where people sign in and out in a browser.",
		Routes: []route.Route{
			view("/", "Where everybody begins: on to the page that is theirs", s.start).As("start"),
			view(loginPath, "The page to sign in", login.look).As("login_page").
				Taking(field.Text("next", new(string)).Doc("Where to go on afterwards: a path of this panel.")),
			s.press(loginPath, "Sign in", login).As("login").
				Failing(http.StatusUnauthorized, "There is no active account with this name and password."),
			s.press(logoutPath, "Sign out", leave).As("logout"),
			view(resetPath, "The page to ask for a new password", reset.look).As("password_reset_page"),
			s.press(resetPath, "Ask for a link to set a new password", reset).As("password_reset_form"),
		},
	}
}

// view declares a page that is only looked at.
func view(path, summary string, show func(context.Context, route.Call) (*route.Document, error)) route.Route {
	return route.View(http.MethodGet, path, summary, show).
		Failing(http.StatusSeeOther, "On to another page, such as the one to sign in.")
}

// press declares what the forms of a page do.
func (s *Server) press(path, summary string, d desk) route.Route {
	return route.View(http.MethodPost, path, summary, s.taking(d)).
		Failing(http.StatusSeeOther, "It is done, or somebody has to sign in first.").
		Failing(http.StatusBadRequest, "Fields of the form are wrong.").
		Failing(http.StatusForbidden, "The form was sent by another site, or is out of date.").
		Failing(http.StatusNotFound, "What the form is about is not there.").
		Failing(http.StatusConflict, "That is not possible at present.").
		Failing(http.StatusRequestEntityTooLarge, "The form has more than 64 KiB.").
		Failing(http.StatusUnsupportedMediaType, "The body is no form.").
		Failing(http.StatusTooManyRequests, "There were too many attempts.")
}

// start sends everybody to the page that is theirs.
func (s *Server) start(_ context.Context, c route.Call) (*route.Document, error) {
	if v := visitOf(c); v.isSignedIn() {
		return seeOther(homeOf(v.who.User)), nil
	}
	return seeOther(loginPath), nil
}

func (s *Server) loginDesk() desk {
	return desk{show: s.showLogin, forms: map[string]taker{"sign_in": s.enter}}
}

func (s *Server) showLogin(_ context.Context, c route.Call, back *returned) (*route.Document, error) {
	next := localPath(c.Param("next"))
	if v := visitOf(c); v.isSignedIn() && back == nil {
		return seeOther(cmp.Or(next, homeOf(v.who.User))), nil
	}
	return s.sheet(c, back.statusOf(), "login", "login_title", map[string]any{"Form": s.fill(c, form{
		Name: "sign_in", Action: loginPath, Inputs: []input{
			{Name: "username", Autocomplete: "username", Required: true, Plain: true, Focus: true},
			{Name: "password", Type: "password", Autocomplete: "current-password", Required: true},
			{Name: "next", Type: "hidden", Value: next},
		},
	}, back)})
}

// enter signs somebody in. The browser gets a new id, so that nobody who knew
// the one before comes in along with them.
func (s *Server) enter(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	if err := needed(sent, "username", "password"); err != nil {
		return nil, err
	}
	user, err := s.authenticate(ctx, c, &login{sent.Get("username"), sent.Get("password")}, account.ThroughPage)
	if err != nil {
		return nil, err
	}
	if err := s.Sessions.EndSession(ctx, visitOf(c).id); err != nil {
		return nil, err
	}
	id, err := s.Sessions.OpenSession(ctx, user.ID, user.SessionVersion)
	if err != nil {
		return nil, err
	}
	return seeOther(cmp.Or(localPath(sent.Get("next")), homeOf(user)), s.cookie(sessionCookie, id, 0)), nil
}

func (s *Server) leaveDesk() desk {
	return desk{show: s.showLeave, forms: map[string]taker{"sign_out": s.leave}}
}

// showLeave asks again whoever comes with a form that is out of date, unless
// they have left already.
func (s *Server) showLeave(_ context.Context, c route.Call, back *returned) (*route.Document, error) {
	if !visitOf(c).isSignedIn() {
		return seeOther(loginPath), nil
	}
	return s.sheet(c, back.statusOf(), "leave", "sign_out_title", map[string]any{
		"Form": s.fill(c, form{Name: "sign_out", Action: logoutPath}, nil),
	})
}

func (s *Server) leave(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	if err := s.Sessions.EndSession(ctx, visitOf(c).id); err != nil {
		return nil, err
	}
	return s.done(loginPath, "signed_out", s.cookie(sessionCookie, "", -1)), nil
}

func (s *Server) resetDesk() desk {
	return desk{show: s.showReset, forms: map[string]taker{"reset": s.sendLink}}
}

func (s *Server) showReset(_ context.Context, c route.Call, back *returned) (*route.Document, error) {
	return s.sheet(c, back.statusOf(), "reset", "reset_title", map[string]any{"Form": s.fill(c, form{
		Name: "reset", Action: resetPath, Inputs: []input{
			{Name: "email", Type: "email", Autocomplete: "email", Required: true, Plain: true, Focus: true},
		},
	}, back)})
}

// sendLink says the same whether the account exists or not.
func (s *Server) sendLink(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	var asked forgotten
	if err := decodeForm(&asked, sent); err != nil {
		return nil, err
	}
	if err := s.reset(ctx, c, asked.Email); err != nil {
		return nil, err
	}
	w := texts[readers(c)]
	return s.sheet(c, http.StatusOK, "notice", "reset_done_title", map[string]any{
		"Text": w["reset_done"], "About": "", "Path": loginPath, "Way": w["back_to_login"],
	})
}
