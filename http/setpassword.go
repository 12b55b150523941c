package http

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const setPasswordPath = "/set-password/"

// accounts is where the links in mails lead to.
func (s *Server) accounts() route.Area {
	const wrong = "The link is used, expired or unknown, or the password is not acceptable."
	return route.Area{
		Name: "Accounts", Access: s.browser(),
		About: "What people do for themselves.",
		Routes: []route.Route{
			route.View(http.MethodGet, setPasswordPath, "The page to which the link in a mail leads", s.showSetPassword).
				As("set_password_page").Failing(http.StatusBadRequest, wrong),
			route.View(http.MethodPost, setPasswordPath, "Set the password of whoever holds the link", s.setPassword).
				As("set_password").Failing(http.StatusBadRequest, wrong).
				Failing(http.StatusSeeOther, "The password is set; on to the page to sign in.").
				Failing(http.StatusForbidden, "The form was sent by another site.").
				Failing(http.StatusRequestEntityTooLarge, "The form has more than 64 KiB.").
				Failing(http.StatusUnsupportedMediaType, "The body is no form."),
		},
	}
}

// showSetPassword never uses the link up: programs that look at mails for
// their readers follow links too.
func (s *Server) showSetPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	token := c.Param("token")
	user, err := s.holder(ctx, token)
	if isMissing(err) {
		return s.deadLink(c)
	}
	if err != nil {
		return nil, err
	}
	return passwordForm(user, &returned{status: http.StatusOK, sent: url.Values{"token": {token}}})
}

func (s *Server) setPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	sent, err := c.Form()
	if err != nil {
		return nil, err
	}
	sent.Set("token", cmp.Or(sent.Get("token"), c.Param("token")))
	token, password := sent.Get("token"), sent.Get("password")
	user, err := s.holder(ctx, token)
	if err == nil {
		if wrong := refusedPassword("password", password, sent.Get("password_repeat"), user.Email); wrong != nil {
			return passwordForm(user, &returned{status: http.StatusBadRequest, sent: sent, wrong: wrong})
		}
		cause := c.Cause()
		cause.Actor = identity{projections.Identity{User: user}}.principal()
		err = s.Accounts.Set(ctx, cause, token, password)
	}
	switch {
	case isMissing(err): // also when somebody else with the same link was faster
		return s.deadLink(c)
	case err != nil:
		return nil, err
	}
	d := s.done(loginPath, "password_set") // nobody is signed in by a link alone
	return private(d, nil)
}

// refusedPassword is what is wrong with a password that was typed twice.
func refusedPassword(field, password, repeat, username string) (wrong field.Errors) {
	for _, message := range weaknesses(password, username) {
		wrong.Add(field, message)
	}
	if repeat != password {
		wrong.Add("password_repeat", "The two passwords are not the same.")
	}
	return wrong
}

// holder is whose link it is.
func (s *Server) holder(ctx context.Context, token string) (projections.User, error) {
	if token == "" {
		return projections.User{}, domain.Refuse(domain.NotFound, "No token.")
	}
	id, err := s.Accounts.TokenUser(ctx, token)
	if err != nil {
		return projections.User{}, err
	}
	user, err := s.system().User(ctx, id)
	if err == nil && !user.IsActive {
		err = domain.Refuse(domain.NotFound, "The account has ended.")
	}
	return user, err
}

func (s *Server) deadLink(c route.Call) (*route.Document, error) {
	w := texts[readers(c)]
	return private(s.sheet(c, http.StatusBadRequest, "notice", "link_title", map[string]any{
		"Text": "This link is no longer valid.", "About": w["link_about"], "Path": resetPath, "Way": w["link_again"],
	}))
}

// passwordForm speaks the language of the link's holder. The token in it is
// proof enough of where it comes from.
func passwordForm(user projections.User, back *returned) (*route.Document, error) {
	language := spoken(user.Language)
	f := form{Name: "set_password", Action: setPasswordPath, Inputs: []input{
		{Name: "token", Type: "hidden"},
		{Name: "username", Value: user.Email, Autocomplete: "username", IsFixed: true},
		{Name: "password", Type: "password", Autocomplete: "new-password", Required: true, Long: passwordMax, Focus: true},
		{Name: "password_repeat", Type: "password", Autocomplete: "new-password", Required: true, Long: passwordMax},
	}}
	back.form = f.Name
	return private(page(back.status, "password", language, map[string]any{
		"Title": texts[language]["pw_title"], "Form": f.in(language, back),
	}))
}

// private keeps the token in the address from whatever page comes next.
func private(d *route.Document, err error) (*route.Document, error) {
	if d != nil {
		d.Header.Set("Referrer-Policy", "no-referrer")
	}
	return d, err
}
