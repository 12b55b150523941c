package accounts

import (
	"context"
	"net/http"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/eventstore/clock"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// confirmRoute is where a script gives the password again, for the calls that
// refuse a session with the code reauthentication_required.
func (s *profile) confirmRoute() route.Route {
	return route.Post(mePath+"confirm/", "Give the password again, in the session of a browser", s.confirm).As("me_confirm").
		For(s.callers.EnrollingBySession()).With(http.StatusOK).Caching("no-store").Keeping("").
		Saying("Calls that refuse with the code reauthentication_required are open for 10 minutes. The session goes "+
			"on under a new cookie. The former cookie and the former CSRF token open nothing any more.").
		Failing(http.StatusForbidden, "The call came with a token (session_required), or without the CSRF token.").
		Failing(http.StatusTooManyRequests, "Too many calls, or the password was wrong too often.")
}

// A confirmation is the password, given again.
type confirmation struct{ Password string }

// Fields are the password.
func (q *confirmation) Fields() field.Set {
	return field.Set{field.Text("password", &q.Password).Required().Verbatim().Max(account.PasswordRead).Secret()}
}

// A freshSession has a new token, for as long as the password counts.
type freshSession struct {
	CSRFToken string
	Until     time.Time
}

// Fields are what a script needs to go on.
func (a *freshSession) Fields() field.Set {
	return field.Set{
		field.Text("csrf_token", &a.CSRFToken).Doc("For the header X-CSRF-Token from now on; it replaces that of the page."),
		field.Time("confirmed_until", &a.Until).Doc("When the password is asked for again."),
	}
}

func (s *profile) confirm(ctx context.Context, c route.Call, q *confirmation) (*freshSession, error) {
	right, err := s.callers.Confirm(ctx, c, caller.Of(c).User, q.Password)
	if err == nil && !right {
		err = domain.RefuseField("password", "The current password is wrong.")
	}
	if err != nil {
		return nil, err
	}
	cookie, err := s.callers.Renew(ctx, c)
	if err != nil {
		return nil, err
	}
	c.Set("Set-Cookie", cookie.String())
	return &freshSession{s.callers.Token(cookie.Value), clock.Now().UTC().Add(caller.FreshFor)}, nil
}
