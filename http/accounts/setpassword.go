package accounts

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// SetPasswordRoutes are where the links in mails lead to.
func (a *Area) SetPasswordRoutes() route.Area {
	s := &a.passwords
	return route.Area{
		Name: "Accounts", Access: s.callers.Browser(),
		About: "What people do for themselves.",
		Routes: []route.Route{
			route.View(http.MethodGet, web.SetPasswordPath, "The page to which the link in a mail leads", s.showSetPassword).
				As("set_password_page"),
			route.View(http.MethodPost, web.SetPasswordPath, "Set the password of the user whose link it is", s.setPassword).
				As("set_password"),
		},
	}
}

// showSetPassword never uses the link up: programs that look at mails for
// their readers follow links too.
func (s *passwords) showSetPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	token := c.Param("token")
	user, err := s.holder(ctx, token)
	if record.IsMissing(err) {
		return s.deadLink(c)
	}
	if err != nil {
		return nil, err
	}
	return passwordForm(user, &web.Returned{Status: http.StatusOK, Sent: url.Values{"token": {token}}})
}

func (s *passwords) setPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	sent, err := c.Form()
	if err != nil {
		return nil, err
	}
	sent.Set("token", cmp.Or(sent.Get("token"), c.Param("token")))
	token, password := sent.Get("token"), sent.Get("password")
	user, err := s.holder(ctx, token)
	if err == nil {
		if wrong := refusedPassword("password", password, sent.Get("password_repeat"), user.Email); wrong != nil {
			return passwordForm(user, &web.Returned{Status: http.StatusBadRequest, Sent: sent, Wrong: wrong})
		}
		cause := c.Cause()
		cause.Actor = caller.Identity{Identity: projections.Identity{User: user}}.Principal()
		err = s.accounts.Set(ctx, cause, token, password)
	}
	switch {
	case record.IsMissing(err): // also when another use of the same link was faster
		return s.deadLink(c)
	case err != nil:
		return nil, err
	}
	return web.Private(s.entrance.enterWith(ctx, c, user.Email, password))
}

// refusedPassword is what is wrong with a password that was typed twice.
func refusedPassword(field, password, repeat, username string) (wrong field.Errors) {
	for _, message := range account.PasswordProblems(password, username) {
		wrong.Add(field, message)
	}
	if repeat != password {
		wrong.Add("password_repeat", "The two passwords are not the same.")
	}
	return wrong
}

// holder is whose link it is.
func (s *passwords) holder(ctx context.Context, token string) (projections.User, error) {
	if token == "" {
		return projections.User{}, domain.Refuse(domain.NotFound, "No token.")
	}
	id, err := s.accounts.TokenUser(ctx, token)
	if err != nil {
		return projections.User{}, err
	}
	user, err := s.callers.System().Accounts().User(ctx, id)
	if err == nil && !user.IsActive {
		err = domain.Refuse(domain.NotFound, "The account has ended.")
	}
	return user, err
}

func (s *passwords) deadLink(c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return web.Private(s.web.Sheet(c, http.StatusBadRequest, "notice", "link_title", map[string]any{
		"Text": "This link is no longer valid.", "About": w["link_about"], "Path": web.ResetPath, "Way": w["link_again"],
	}))
}

// passwordForm speaks the language of the link's holder. The token in it is
// proof enough of where it comes from.
func passwordForm(user projections.User, back *web.Returned) (*route.Document, error) {
	language := web.Spoken(user.Language)
	f := web.Form{Name: "set_password", Action: web.SetPasswordPath, Inputs: []web.Input{
		{Name: "token", Type: "hidden"},
		{Name: "username", Value: user.Email, Autocomplete: "username", IsFixed: true},
		{Name: "password", Type: "password", Autocomplete: "new-password", Required: true, Long: account.PasswordMax, Focus: true},
		{Name: "password_repeat", Type: "password", Autocomplete: "new-password", Required: true, Long: account.PasswordMax},
	}}
	back.Form = f.Name
	return web.Private(web.Page(back.Status, "password", language, map[string]any{
		"Title": web.Texts[language]["pw_title"], "Form": f.In(language, back),
	}))
}
