package operations

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// What operators do about the way in which a user signs in.

// A linkForm says whether a link is to be mailed too.
type linkForm struct{ Send bool }

// Fields are the form.
func (l *linkForm) Fields() field.Set {
	return field.Set{field.Flag("send", &l.Send).Default(false).Doc("Mail the link to the user, too.")}
}

// A linkRecord is a link with which a user sets a password.
type linkRecord struct {
	URL       *string // nil: it was shown before
	ExpiresAt *time.Time
}

// Fields are the link, which is shown once.
func (l *linkRecord) Fields() field.Set {
	return field.Set{
		field.NullText("url", &l.URL).OneTime().ReadOnly(),
		field.NullTime("expires_at", &l.ExpiresAt).ReadOnly(),
	}
}

func (s *users) resetLinkRoute() route.Route {
	return route.Post(userPath+"reset_link/", "Make a link with which a user sets a password", s.makeResetLink).
		As("user_reset_link").Of("User").For(s.callers.SuperuserConfirmed()).Finding(s.findUser).Caching("no-store").
		Resuming(s.showResetLink).
		Saying("Hand it over yourself, or have it mailed. It works once, and ends those that were made before.").
		Failing(http.StatusConflict, "The user is not active (invalid_state), or others were faster.")
}

func (s *users) makeResetLink(ctx context.Context, c route.Call, l *linkForm) (*linkRecord, error) {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	if !u.IsActive {
		return nil, notActive
	}
	link, err := s.accounts.Link(ctx, c.CauseOf(domain.Versions{account.Stream(u.ID): u.Version}), u.ID, l.Send)
	if err != nil {
		return nil, err
	}
	address := c.URL(web.SetPasswordPath + "?" + url.Values{"token": {link.Token}}.Encode())
	return &linkRecord{&address, &link.ExpiresAt}, nil
}

// showResetLink answers a repeat whose first answer was never given: the link
// is lost with it, because it is not kept.
func (*users) showResetLink(context.Context, route.Call, string) (route.Answer, error) {
	return (&linkRecord{}).Fields(), nil
}

func (s *users) disableFactorRoute() route.Route {
	return route.Post(userPath+"disable_second_factor/", "Switch off the second factor of a user who has lost it", s.disableFactor).
		As("user_disable_second_factor").Of("User").For(s.callers.SuperuserConfirmed()).Finding(s.findUser).With(http.StatusOK).
		Saying("Make sure first that it is the user who asks. The password suffices then, and the recovery codes end.").
		Failing(http.StatusConflict, "The second factor is not on (invalid_state), or others were faster.")
}

func (s *users) disableFactor(ctx context.Context, c route.Call, why *verdict) (*userRecord, error) {
	u := c.Subject.(*userRecord) //nolint:forcetypeassert // found by findUser
	if err := s.accounts.DisableFactor(ctx, c.CauseOf(domain.Versions{account.Stream(u.ID): u.Version}), u.ID, why.Reason); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*userRecord, error) { return s.userRecord(ctx, c, u.ID) })
}
