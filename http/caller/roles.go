package caller

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// The rules of who may call what. Those who sign in bring an access token
// (docs/security.md, "Tokens"), or the session of their browser; what they may
// do is looked up with every call, so that it ends at once when it is taken
// from them.

// User admits everybody who has signed in. Where superusers need a second factor,
// it refuses those without one.
func (s *Callers) User() route.Access {
	return s.Enrolling().Requiring(s.enrolled)
}

// Superuser admits those who operate the installation.
func (s *Callers) Superuser() route.Access {
	return s.onlyFor("superuser", func(who Identity) bool { return who.IsSuperuser }, s.denied)
}

// TenantAdmin admits administrators of their active tenant, and superusers.
func (s *Callers) TenantAdmin() route.Access {
	return ofTenant(s.onlyFor("tenant administrator", Identity.Administers, s.denied))
}

// Writing admits users who have an active tenant to write in. Superusers may
// name one in the request instead.
func (s *Callers) Writing() route.Access {
	return ofTenant(s.onlyFor("user with an active tenant", func(who Identity) bool { return who.ActiveTenant != nil || who.IsSuperuser },
		func(context.Context, route.Request, Identity) error { return noActiveTenant }))
}

func ofTenant(a route.Access) route.Access { a.OfTenant = true; return a }

// onlyFor admits users of one sort. Who is turned away was looked up for it.
func (s *Callers) onlyFor(rule string, may func(Identity) bool, refuse func(context.Context, route.Request, Identity) error) route.Access {
	access := s.User().As(rule)
	access.Identify = s.identify(may)
	access.Fits = func(c route.Caller) bool { return may(IdentityOf(c)) }
	return access.Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := IdentityOf(c); !may(who) {
			return refuse(ctx, r, who)
		}
		return nil
	})
}

// denied writes down who is turned away.
func (s *Callers) denied(ctx context.Context, r route.Request, who Identity) error {
	s.journal.noteDenied(ctx, r, who.User)
	return route.NoPermission
}

// BearerChallenge is the WWW-Authenticate header of an answer that refuses a token.
const BearerChallenge = `Bearer realm="api"`

// What callers with tokens may be refused with.
var (
	noActiveTenant = &route.Refusal{Status: http.StatusForbidden, Detail: "No active tenant.", Code: "no_active_tenant"}

	badHeader = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "bad_authorization_header",
		Detail: "Authorization header must contain two space-delimited values",
	}
	NoUserInToken = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "token_not_valid",
		Detail: "Token contained no recognizable user identification",
	}
	UserGone        = &route.Refusal{Status: http.StatusUnauthorized, Detail: "User not found", Code: "user_not_found"}
	UserInactive    = &route.Refusal{Status: http.StatusUnauthorized, Detail: "User is inactive", Code: "user_inactive"}
	passwordChanged = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "password_changed",
		Detail: "The user's password has been changed.",
	}
)

// An Identity is who calls, as the read tables have it at this moment.
type Identity struct{ projections.Identity }

// Of is who makes the call.
func Of(c route.Call) Identity { return IdentityOf(c.Caller) }

// IdentityOf is the user behind a caller; the zero value: no user.
func IdentityOf(c route.Caller) Identity {
	switch known := c.Detail.(type) {
	case Identity:
		return known
	case holder:
		return known.Identity
	case Visit:
		return known.Who
	case ticketHolder:
		return known.Identity
	}
	return Identity{}
}

// SignInOf is the session or the sign-in from which the call comes.
func SignInOf(c route.Call) uuid.UUID {
	switch known := c.Caller.Detail.(type) {
	case holder:
		return known.signIn
	case Visit:
		return known.session.ID
	}
	return uuid.Nil
}

// Person is the subject of a user who belongs to the active tenant; zero: no such user. An
// operator who visits a tenant does not belong to it, nor does an administrator of its
// parent.
func (i Identity) Person() uuid.UUID {
	if i.Role == "" || i.Tenant() == 0 || i.Through != nil {
		return uuid.Nil
	}
	return i.Subject
}

// Tenant is the one in whose name the user acts; 0: none.
func (i Identity) Tenant() int64 {
	if i.ActiveTenant == nil {
		return 0
	}
	return *i.ActiveTenant
}

// Administers tells whether the user may act as an administrator of the active tenant.
// Superusers may in any.
func (i Identity) Administers() bool { return i.IsSuperuser || i.Role == account.Admin }

// Administered is the active tenant if the user administers it; 0: none.
func (i Identity) Administered() int64 {
	if i.Role != account.Admin {
		return 0
	}
	return i.Tenant()
}

// Principal names the user: "user:12".
func (i Identity) Principal() string { return "user:" + strconv.FormatInt(i.ID, 10) }

// actor names the user in causes. What superusers do, they do as operators.
func (i Identity) actor() string {
	if i.IsSuperuser {
		return "operator:" + strconv.FormatInt(i.ID, 10)
	}
	return i.Principal()
}

// Reader is the user as the read tables know readers.
func (i Identity) Reader() projections.Caller {
	return projections.Caller{User: i.ID, Tenant: i.Tenant(), Admin: i.Role == account.Admin, Superuser: i.IsSuperuser}
}

// caller is the user as routes know callers.
func (i Identity) caller() route.Caller {
	return route.Caller{Principal: i.Principal(), Actor: i.actor(), Tenant: i.Tenant(), Detail: i}
}

// A holder is the user of a token, as one call knows them.
type holder struct {
	Identity
	signIn  uuid.UUID         // with which the token began
	reads   projections.Scope // what they alone may read
	counted *domain.Quota     // what is left after this call; nil: it was not counted yet
}

func (h holder) caller() route.Caller {
	c := h.Identity.caller()
	c.Detail = h
	return c
}

// Scope is what the caller may read.
func (s *Callers) Scope(c route.Call) projections.Scope {
	if h, ok := c.Caller.Detail.(holder); ok {
		return h.reads
	}
	return s.Reading(Of(c))
}

// identify tells who has signed in, by the header Authorization or by the
// session of a browser. A caller whom the route would refuse is looked up, even
// if cached.
func (s *Callers) identify(may func(Identity) bool) func(context.Context, route.Request) (route.Caller, error) {
	return func(ctx context.Context, r route.Request) (route.Caller, error) {
		if id, brought := s.pageCookie(r); brought {
			return s.identifyPage(ctx, r, id)
		}
		text, err := bearerToken(r.Header.Values("Authorization"))
		if err != nil {
			return route.Caller{}, err
		}
		if c, ok := s.remember(r, s.Tokens.hashOf(text), may); ok {
			return c, nil
		}
		return s.lookUp(ctx, r, text)
	}
}

// lookUp reads who holds a token, and counts the call in the same round trip: a
// token that opens nothing uses up no calls.
func (s *Callers) lookUp(ctx context.Context, r route.Request, text string) (route.Caller, error) {
	token, err := s.Tokens.Read(text, AccessToken)
	if err != nil {
		return route.Caller{}, refusedAccess(err)
	}
	id, _ := token.user() // of no user: which is refused below
	limit := s.userLimit(Identity{projections.Identity{User: projections.User{ID: id}}})
	scope := s.System().Given(&projections.CallerCheck{User: id, Session: token.Version, SignIn: token.SignIn, Limit: limit})
	who, err := s.holderIn(ctx, scope, token)
	if err != nil {
		if who.ID != 0 {
			s.journal.noteDenied(ctx, r, who.User)
		}
		return route.Caller{}, refusedAccess(err)
	}
	left, ok := scope.Holds(ctx)
	if !ok { // all else was just found to be so
		return route.Caller{}, refusedAccess(TokenInvalid)
	}
	h := holder{Identity: who, signIn: token.SignIn, reads: s.Reading(who)}
	if limit != (projections.Limit{}) {
		h.counted = &left
	}
	if h.counted == nil || h.counted.Allowed {
		s.deps.Caches.tokens.keep(s.Tokens.hashOf(text), memorized{who, token.SignIn, token.Expires.Time}, clock.Now())
	}
	return h.caller(), nil
}

// bearerToken takes the token out of the header. Another scheme is as good as
// none.
func bearerToken(headers []string) (string, error) {
	words := strings.Fields(strings.Join(headers, " "))
	switch {
	case len(words) == 0, !strings.EqualFold(words[0], "Bearer"):
		return "", route.NoKey
	case len(words) != 2:
		return "", badHeader
	}
	return words[1], nil
}

// user is the number of the token's user.
func (c Claims) user() (int64, error) {
	id, err := strconv.ParseInt(c.User, 10, 64)
	if err != nil || id < 1 {
		return 0, NoUserInToken
	}
	return id, nil
}

// IsEnded tells whether the sign-in that a token of a user comes from was ended.
func (s *Callers) IsEnded(ctx context.Context, token Claims, who Identity) bool {
	_, holds := s.System().Given(&projections.CallerCheck{User: who.ID, Session: token.Version, SignIn: token.SignIn}).Holds(ctx)
	return !holds
}

// HolderOf is the user of a valid token. The error is the refusal, for a token
// of an existing user with the identity besides.
func (s *Callers) HolderOf(ctx context.Context, token Claims) (Identity, error) {
	return s.holderIn(ctx, s.System(), token)
}

func (s *Callers) holderIn(ctx context.Context, scope projections.Scope, token Claims) (Identity, error) {
	id, err := token.user()
	if err != nil {
		return Identity{}, err
	}
	found, known, err := scope.Accounts().Identity(ctx, id)
	who := Identity{found}
	switch {
	case err != nil:
		return Identity{}, err
	case !known, who.Email == "": // erased
		return Identity{}, UserGone
	case !who.IsActive:
		return who, UserInactive
	case token.Version >= 1 && token.Version < who.PasswordVersion:
		return who, passwordChanged
	case token.Version != who.SessionVersion:
		return who, TokenInvalid
	}
	return who, nil
}

// userLimit is how often a user may call.
func (s *Callers) userLimit(who Identity) projections.Limit {
	const perMinute = 600
	if !s.deps.Abuse || s.deps.isPast() {
		return projections.Limit{}
	}
	return projections.Limit{Key: who.Principal(), Calls: perMinute, Window: time.Minute}
}

// limitUser counts the calls of a user, unless that was done when they were
// looked up, or is done when they are settled.
func (s *Callers) limitUser(ctx context.Context, _ route.Request, c route.Caller) (route.Limit, error) {
	limit := s.userLimit(IdentityOf(c))
	if limit == (projections.Limit{}) || c.Principal == "" || c.Settle != nil {
		return route.Limit{}, nil
	}
	if h, ok := c.Detail.(holder); ok && h.counted != nil {
		return route.Limit{Name: "user", Quota: *h.counted}, nil
	}
	left, err := s.deps.Limits.Take(ctx, limit.Key, limit.Calls, limit.Window)
	return route.Limit{Name: "user", Quota: left}, err
}
