package http

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"hostpanel/domain"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const setPasswordPath = "/set-password/"

// accounts is what people do for themselves.
func (s *Server) accounts() route.Area {
	const wrong = "The link is used, expired or unknown, or the password is not acceptable."
	return route.Area{
		Name: "Accounts", Access: route.Open,
		About: "What people do for themselves.",
		Routes: []route.Route{
			route.View(http.MethodGet, setPasswordPath, "The page to which the link in a mail leads", s.showSetPassword).
				As("set_password_page").Failing(http.StatusBadRequest, wrong),
			route.View(http.MethodPost, setPasswordPath, "Set the password of whoever holds the link", s.setPassword).
				As("set_password").Failing(http.StatusBadRequest, wrong).
				Failing(http.StatusRequestEntityTooLarge, "The form has more than 64 KiB.").
				Failing(http.StatusUnsupportedMediaType, "The body is no form."),
		},
	}
}

// noReferrer keeps the token in the address from whatever page comes next.
var noReferrer = http.Header{"Referrer-Policy": {"no-referrer"}}

// showSetPassword never uses the link up: programs that look at mails for
// their readers follow links too.
func (s *Server) showSetPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	token := c.Param("token")
	user, err := s.holder(ctx, token)
	if isMissing(err) {
		return deadLink(c)
	}
	if err != nil {
		return nil, err
	}
	return passwordForm(http.StatusOK, token, user, nil)
}

func (s *Server) setPassword(ctx context.Context, c route.Call) (*route.Document, error) {
	form, err := c.Form()
	if err != nil {
		return nil, err
	}
	token, password := cmp.Or(form.Get("token"), c.Param("token")), form.Get("password")
	user, err := s.holder(ctx, token)
	if err == nil {
		if wrong := refusedPassword(password, form.Get("password_repeat"), user); len(wrong) > 0 {
			return passwordForm(http.StatusBadRequest, token, user, wrong)
		}
		cause := c.Cause()
		cause.Actor = "user:" + strconv.FormatInt(user.ID, 10)
		err = s.Accounts.Set(ctx, cause, token, password)
	}
	switch {
	case isMissing(err): // also when somebody else with the same link was faster
		return deadLink(c)
	case err != nil:
		return nil, err
	}
	return passwordIsSet(user)
}

func refusedPassword(password, repeat string, user projections.User) []string {
	wrong := weaknesses(password, user.Email)
	if repeat != password {
		wrong = append(wrong, texts[spoken(user.Language)]["pw_differ"])
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

func deadLink(c route.Call) (*route.Document, error) {
	language := preferred(c.Header)
	return private(page(http.StatusBadRequest, "notice", language, map[string]any{
		"Title": texts[language]["link_title"], "Notice": "This link is no longer valid.",
	}))
}

func passwordForm(status int, token string, user projections.User, wrong []string) (*route.Document, error) {
	return private(page(status, "password", spoken(user.Language), map[string]any{
		"Token": token, "User": user.Email, "Wrong": wrong,
	}))
}

// passwordIsSet ends the visit. Nobody is signed in by a link alone.
func passwordIsSet(user projections.User) (*route.Document, error) {
	language := spoken(user.Language)
	return private(page(http.StatusOK, "notice", language, map[string]any{
		"Title": texts[language]["pw_done_title"], "Notice": texts[language]["pw_done"],
	}))
}

func private(d *route.Document, err error) (*route.Document, error) {
	if d != nil {
		d.Header = noReferrer
	}
	return d, err
}
