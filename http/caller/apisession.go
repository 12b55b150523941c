package caller

import (
	"context"
	"net/http"

	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
)

// The JSON APIs also accept the session of a browser, from pages of the panel
// alone (docs/security.md, "The session at the APIs").

var (
	passwordAgain = &route.Refusal{
		Status: http.StatusForbidden, Code: "reauthentication_required", Detail: "The password has to be given again.",
	}
	onlySessions = &route.Refusal{
		Status: http.StatusForbidden, Code: "session_required", Detail: "This call is for the session of a browser.",
	}
)

// sessionCredentials are what a browser brings instead of a token.
func sessionCredentials() []route.Credential {
	return []route.Credential{
		{Scheme: "session", Security: map[string]any{
			"type": "apiKey", "in": "cookie", "name": "__Host-" + SessionCookie,
			"description": "The session of a browser, for pages of the panel itself. Without https, the cookie is called " +
				SessionCookie + ".",
		}},
		{Scheme: "csrf", OfWrites: true, Security: map[string]any{
			"type": "apiKey", "in": "header", "name": CSRFHeader,
			"description": "The content of the element meta with the name csrf-token, which every page of the session has.",
		}},
	}
}

// pageCookie is that of a call that brings no other credentials.
func (s *Callers) pageCookie(r route.Request) (id string, brought bool) {
	_, token := r.Header["Authorization"]
	_, key := r.Header["X-Api-Key"]
	cookie, err := r.Cookie(s.CookieName(SessionCookie))
	if token || key || err != nil || !isCookieID(cookie.Value) {
		return "", false
	}
	return cookie.Value, true
}

// identifyPage tells who calls from a page of the panel. The session of a call from
// elsewhere is as good as none.
func (s *Callers) identifyPage(ctx context.Context, r route.Request, id string) (route.Caller, error) {
	if !s.isOwnPage(r) {
		return route.Caller{}, route.NoKey
	}
	v, err := s.visit(ctx, id, finder(s.deps.Sessions, r, true))
	switch {
	case err != nil:
		return route.Caller{}, err
	case !v.IsSignedIn():
		return route.Caller{}, route.NoKey
	case !isSafe(r.Method) && !s.IsToken(id, r.Header.Get(CSRFHeader)):
		return route.Caller{}, wrongCSRFToken
	}
	return v.caller(), nil
}

// SuperuserConfirmed admits superusers, with the password given again.
func (s *Callers) SuperuserConfirmed() route.Access { return s.Confirmed(s.Superuser()) }

// Confirmed admits those of a rule. In a browser they have to have given the password
// again a moment ago; tokens are not affected.
func (s *Callers) Confirmed(access route.Access) route.Access {
	return access.As(access.Rule + ", in a browser with the password given again").Requiring(func(
		_ context.Context, _ route.Request, c route.Caller,
	) error {
		if v, is := c.Detail.(Visit); is && !s.IsFresh(v) {
			return passwordAgain
		}
		return nil
	})
}

// bySession admits callers by session alone.
func bySession(access route.Access) route.Access {
	return access.As("user in a browser").Requiring(func(_ context.Context, _ route.Request, c route.Caller) error {
		if _, is := c.Detail.(Visit); !is {
			return onlySessions
		}
		return nil
	})
}

// IsFresh tells whether the password was given again a moment ago.
func (s *Callers) IsFresh(v Visit) bool { return clock.Since(v.session.ConfirmedAt) < FreshFor }

// Renew gives the session a new id, because its user has given the password
// again. It counts from now on, and the former id opens nothing any more.
func (s *Callers) Renew(ctx context.Context, c route.Call) (*http.Cookie, error) {
	v := VisitOf(c)
	id, err := s.deps.Sessions.RenewSession(ctx, v.ID)
	return s.sessionCookie(id, v.session.StaysUntil), err
}
