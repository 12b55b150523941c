package caller

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	LoginPath     = "/login/" // of the page where users sign in
	SessionCookie = "session" // its value is the browser's id

	FreshFor = 10 * time.Minute // that a password counts as just given
)

// A Visit is one browser, and who has signed in there. Forms are bound to its
// id, which is also there before a sign-in.
type Visit struct {
	ID      string
	IsNew   bool // the browser does not know its id yet
	session domain.Session
	Who     Identity // the zero one: no user has signed in

	Kept url.Values // of the form that this page shows again; nil: none

	Unread int64             // notifications of the user; of pages alone
	Look   *projections.Look // of the tenant for which the user acts; of pages alone; nil: the panel's own
}

// IsSignedIn tells whether a user has signed in at this browser.
func (v Visit) IsSignedIn() bool { return v.Who.ID != 0 }

// caller is the visitor as routes know callers.
func (v Visit) caller() route.Caller {
	c := v.Who.caller()
	c.Detail = v
	return c
}

// VisitOf is the browser that calls.
func VisitOf(c route.Call) Visit {
	v, _ := c.Caller.Detail.(Visit)
	return v
}

// Browser admits every visitor, and looks up the signed-in user.
func (s *Callers) Browser() route.Access {
	return route.Access{Rule: "open", Identify: s.arrive, Admit: s.sameSite}
}

// Session admits browsers with a signed-in user. Others are sent to the login
// page, and from there back.
func (s *Callers) Session() route.Access {
	return route.Access{
		Rule: "session", Scheme: "session",
		Security: sessionCredentials()[0].Security,
		Identify: s.signedIn, Admit: s.sentToEnrol, Limit: s.limitUser,
	}
}

// SuperuserSession admits superusers alone.
func (s *Callers) SuperuserSession() route.Access {
	return s.Session().As("session of a superuser").Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := IdentityOf(c); !who.IsSuperuser {
			s.journal.noteDenied(ctx, r, who.User)
			return route.NoPermission
		}
		return nil
	})
}

// WritingSession admits users who act for a tenant, and superusers.
func WritingSession(s *Callers) route.Access {
	return s.Session().As("session of a user with an active tenant").Requiring(func(
		_ context.Context, _ route.Request, c route.Caller,
	) error {
		if who := IdentityOf(c); who.ActiveTenant == nil && !who.IsSuperuser {
			return noActiveTenant
		}
		return nil
	})
}

// AdminSession admits administrators of the tenant for which they act, and superusers.
func AdminSession(s *Callers) route.Access {
	return s.Session().As("session of a tenant administrator").Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := IdentityOf(c); !who.Administers() {
			s.journal.noteDenied(ctx, r, who.User)
			return route.NoPermission
		}
		return nil
	})
}

// arrive tells which browser calls, and who has signed in there.
func (s *Callers) arrive(ctx context.Context, r route.Request) (route.Caller, error) {
	cookie, err := r.Cookie(s.CookieName(SessionCookie))
	if err != nil || !isCookieID(cookie.Value) {
		return route.Caller{Detail: Visit{ID: rand.Text(), IsNew: true}}, nil
	}
	v, err := s.visit(ctx, cookie.Value, finder(s.deps.Sessions, r, r.Header.Get("Sec-Fetch-Dest") == "empty"))
	if err != nil || !v.IsSignedIn() {
		return route.Caller{Detail: v}, err
	}
	if err := s.furnish(ctx, &v); err != nil {
		return route.Caller{Detail: v}, err
	}
	return v.caller(), nil
}

// furnish adds what every page shows. Superusers see the panel's own look, for whomever
// they act.
func (s *Callers) furnish(ctx context.Context, v *Visit) (err error) {
	if v.Unread, err = s.Reading(v.Who).Notices().UnreadCount(ctx); err != nil || v.Who.IsSuperuser || v.Who.Tenant() == 0 {
		return err
	}
	look, has, err := s.System().Hosting().LookOf(ctx, v.Who.Tenant())
	if has {
		v.Look = &look
	}
	return err
}

// visit tells who has signed in at a browser: no user whose sessions were ended
// since. find looks the session up.
func (s *Callers) visit(ctx context.Context, id string, find func(context.Context, string) (domain.Session, bool, error)) (Visit, error) {
	v := Visit{ID: id}
	session, known, err := find(ctx, id)
	if err != nil || !known {
		return v, err
	}
	who, known, err := s.System().Accounts().Identity(ctx, session.User)
	stays := !session.StaysUntil.IsZero() && who.IsSuperuser // who has become one signs in anew
	if err == nil && known && who.IsActive && who.SessionVersion == session.Version && !stays {
		v.session, v.Who = session, Identity{who}
	}
	return v, err
}

// finder looks sessions up. A change is a person's deed and counts as a visit, and so
// does a page that is opened. What scripts read by themselves, such as streams and
// pages anew, keeps no session alive.
func finder(from Sessions, r route.Request, byScript bool) func(context.Context, string) (domain.Session, bool, error) {
	if byScript && isSafe(r.Method) {
		return from.PeekSession
	}
	return from.Session
}

// isCookieID tells whether a cookie can be one of ours.
func isCookieID(text string) bool {
	return len(text) >= 20 && len(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func (s *Callers) signedIn(ctx context.Context, r route.Request) (route.Caller, error) {
	caller, err := s.arrive(ctx, r)
	switch {
	case err != nil:
	case caller.Principal == "":
		err = route.SeeOther(LoginPath + "?next=" + url.QueryEscape(s.wanted(ctx, r)))
	case r.Method == http.MethodGet && r.URL.Query().Has(keptParam):
		v, _ := caller.Detail.(Visit)
		v.Kept, err = s.keptForm(ctx, r, v.Who.ID)
		caller.Detail = v
	}
	return caller, err
}

// wanted is the page to go on to after the sign-in. A form that was sent is shown there
// again if it could be kept.
func (s *Callers) wanted(ctx context.Context, r route.Request) string {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return r.URL.RequestURI()
	case s.keepForm(ctx, r):
		return r.URL.EscapedPath() + "?" + keptParam + "=1"
	}
	return r.URL.EscapedPath()
}

// CookieName is what a cookie of ours is called. Where the panel is reached
// over https, browsers keep others from setting it.
func (s *Callers) CookieName(name string) string {
	if s.isSecure() {
		return "__Host-" + name
	}
	return name
}

func (s *Callers) isSecure() bool { return strings.HasPrefix(s.deps.PublicURL(), "https://") }

// OpenSession signs a user in, and returns the cookie with the new id. Superusers do not
// stay signed in.
func (s *Callers) OpenSession(ctx context.Context, user projections.User, stays bool) (*http.Cookie, error) {
	id, err := s.deps.Sessions.OpenSession(ctx, user.ID, user.SessionVersion)
	var until time.Time
	if err == nil && stays && s.MayStay() && !user.IsSuperuser {
		until, err = s.deps.Sessions.StaySignedIn(ctx, id)
	}
	return s.sessionCookie(id, until), err
}

// ReopenSession signs the user of a browser in again, whose sessions have all ended.
func (s *Callers) ReopenSession(ctx context.Context, c route.Call) (*http.Cookie, error) {
	v := VisitOf(c)
	now, _, err := s.System().Accounts().Identity(ctx, Of(c).ID)
	if err != nil {
		return nil, err
	}
	return s.OpenSession(ctx, now.User, !v.session.StaysUntil.IsZero())
}

// MayStay tells whether users may choose to stay signed in.
func (s *Callers) MayStay() bool { return s.deps.Sessions.MayStay() }

// sessionCookie has the id of a session. It is gone when the browser is closed, unless its
// user stays signed in.
func (s *Callers) sessionCookie(id string, until time.Time) *http.Cookie {
	if until.IsZero() {
		return s.Cookie(SessionCookie, id, 0)
	}
	return s.Cookie(SessionCookie, id, max(int(clock.Until(until)/time.Second), 1))
}

// Cookie is one of ours, which no script can read and no other site send
// along. It lives for so many seconds; 0: until the browser is closed, -1: it
// is taken away.
func (s *Callers) Cookie(name, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: s.CookieName(name), Value: value, Path: "/", MaxAge: seconds,
		Secure: s.isSecure(), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}
