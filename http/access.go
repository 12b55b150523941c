package http

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// The rules of who may call what. Those who sign in bring an access token
// (docs/security.md, "Tokens"); what they may do is looked up with every call,
// so that it ends at once when it is taken from them.

// user admits everybody who has signed in.
func (s *Server) user() route.Access {
	return route.Access{
		Rule: "user", Scheme: "bearer", Challenge: bearerChallenge,
		Security: map[string]any{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
		Identify: s.identify(func(identity) bool { return true }), Limit: s.limitUser,
	}
}

// superuser admits those who operate the installation.
func (s *Server) superuser() route.Access {
	return s.onlyFor("superuser", func(who identity) bool { return who.IsSuperuser }, s.denied)
}

// tenantAdmin admits administrators of their active tenant, and superusers.
func (s *Server) tenantAdmin() route.Access {
	return s.onlyFor("tenant administrator", func(who identity) bool { return who.IsSuperuser || who.Role == account.Admin }, s.denied)
}

// writing admits users who have an active tenant to write in. Superusers may
// name one in the request instead.
func (s *Server) writing() route.Access {
	return s.onlyFor("user with an active tenant", func(who identity) bool { return who.ActiveTenant != nil || who.IsSuperuser },
		func(context.Context, route.Request, identity) error { return noActiveTenant })
}

// onlyFor admits users of one sort. Who is turned away was looked up for it.
func (s *Server) onlyFor(rule string, may func(identity) bool, refuse func(context.Context, route.Request, identity) error) route.Access {
	access := s.user().As(rule)
	access.Identify = s.identify(may)
	access.Fits = func(c route.Caller) bool { return may(identityOf(c)) }
	return access.Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := identityOf(c); !may(who) {
			return refuse(ctx, r, who)
		}
		return nil
	})
}

// denied writes down who is turned away.
func (s *Server) denied(ctx context.Context, r route.Request, who identity) error {
	s.noteDenied(ctx, r, who.User)
	return route.NoPermission
}

const bearerChallenge = `Bearer realm="api"`

// What callers with tokens may be refused with.
var (
	noActiveTenant = &route.Refusal{Status: http.StatusForbidden, Detail: "No active tenant.", Code: "no_active_tenant"}

	badHeader = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "bad_authorization_header",
		Detail: "Authorization header must contain two space-delimited values",
	}
	noUserInToken = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "token_not_valid",
		Detail: "Token contained no recognizable user identification",
	}
	userGone        = &route.Refusal{Status: http.StatusUnauthorized, Detail: "User not found", Code: "user_not_found"}
	userInactive    = &route.Refusal{Status: http.StatusUnauthorized, Detail: "User is inactive", Code: "user_inactive"}
	passwordChanged = &route.Refusal{
		Status: http.StatusUnauthorized, Code: "password_changed",
		Detail: "The user's password has been changed.",
	}
)

// An identity is who calls, as the read tables have it at this moment.
type identity struct{ projections.Identity }

// callerOf is who makes the call.
func callerOf(c route.Call) identity { return identityOf(c.Caller) }

func identityOf(c route.Caller) identity {
	switch known := c.Detail.(type) {
	case identity:
		return known
	case holder:
		return known.identity
	case visit:
		return known.who
	}
	return identity{}
}

// tenant is the one in whose name the user acts; 0: none.
func (i identity) tenant() int64 {
	if i.ActiveTenant == nil {
		return 0
	}
	return *i.ActiveTenant
}

// principal names the user: "user:12".
func (i identity) principal() string { return "user:" + strconv.FormatInt(i.ID, 10) }

// actor names the user in causes. What superusers do, they do as operators.
func (i identity) actor() string {
	if i.IsSuperuser {
		return "operator:" + strconv.FormatInt(i.ID, 10)
	}
	return i.principal()
}

// reader is the user as the read tables know readers.
func (i identity) reader() projections.Caller {
	return projections.Caller{User: i.ID, Tenant: i.tenant(), Superuser: i.IsSuperuser}
}

// caller is the user as routes know callers.
func (i identity) caller() route.Caller {
	return route.Caller{Principal: i.principal(), Actor: i.actor(), Tenant: i.tenant(), Detail: i}
}

// A holder is whoever holds a token, as one call knows them.
type holder struct {
	identity
	reads   projections.Scope // what they may read, and nobody else
	counted *domain.Quota     // what is left after this call; nil: it was not counted yet
}

func (h holder) caller() route.Caller {
	c := h.identity.caller()
	c.Detail = h
	return c
}

// scope is what the caller may read.
func (s *Server) scope(c route.Call) projections.Scope {
	if h, ok := c.Caller.Detail.(holder); ok {
		return h.reads
	}
	return s.Tables.For(callerOf(c).reader())
}

// identify tells who has signed in, by the header Authorization. Whoever may
// not do what the route is for is looked up, whatever is remembered.
func (s *Server) identify(may func(identity) bool) func(context.Context, route.Request) (route.Caller, error) {
	return func(ctx context.Context, r route.Request) (route.Caller, error) {
		text, err := bearerToken(r.Header.Values("Authorization"))
		if err != nil {
			return route.Caller{}, err
		}
		if c, ok := s.remember(r, s.hashOf(text), may); ok {
			return c, nil
		}
		return s.lookUp(ctx, r, text)
	}
}

// lookUp reads who holds a token, and counts the call in the same round trip:
// a token that opens nothing uses up nobody's calls.
func (s *Server) lookUp(ctx context.Context, r route.Request, text string) (route.Caller, error) {
	token, err := s.read(text, accessToken)
	if err != nil {
		return route.Caller{}, refusedAccess(err)
	}
	id, _ := token.user() // of nobody: which is refused below
	limit := s.userLimit(identity{projections.Identity{User: projections.User{ID: id}}})
	scope := s.system().Given(&projections.Standing{User: id, Session: token.Version, Limit: limit})
	who, err := s.holderIn(ctx, scope, token)
	if err != nil {
		if who.ID != 0 {
			s.noteDenied(ctx, r, who.User)
		}
		return route.Caller{}, refusedAccess(err)
	}
	h := holder{identity: who, reads: s.Tables.For(who.reader())}
	if left, ok := scope.Holds(ctx); ok && limit != (projections.Limit{}) {
		h.counted = &left
	}
	if h.counted == nil || h.counted.Allowed {
		s.memory.keep(s.hashOf(text), who, s.now(), token.Expires.Time)
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
func (c claims) user() (int64, error) {
	id, err := strconv.ParseInt(c.User, 10, 64)
	if err != nil || id < 1 {
		return 0, noUserInToken
	}
	return id, nil
}

// holderOf is the user of a valid token. The error is the refusal, for a token
// of somebody who is there with the identity besides.
func (s *Server) holderOf(ctx context.Context, token claims) (identity, error) {
	return s.holderIn(ctx, s.system(), token)
}

func (s *Server) holderIn(ctx context.Context, scope projections.Scope, token claims) (identity, error) {
	id, err := token.user()
	if err != nil {
		return identity{}, err
	}
	found, known, err := scope.Identity(ctx, id)
	who := identity{found}
	switch {
	case err != nil:
		return identity{}, err
	case !known, who.Email == "": // erased
		return identity{}, userGone
	case !who.IsActive:
		return who, userInactive
	case token.Version >= 1 && token.Version < who.PasswordVersion:
		return who, passwordChanged
	case token.Version != who.SessionVersion:
		return who, tokenInvalid
	}
	return who, nil
}

// userLimit is how often a user may call.
func (s *Server) userLimit(who identity) projections.Limit {
	const perMinute = 600
	if !s.Settings.Abuse {
		return projections.Limit{}
	}
	return projections.Limit{Key: who.principal(), Calls: perMinute, Window: time.Minute}
}

// limitUser counts the calls of a user, unless that was done when they were
// looked up, or is done when they are settled.
func (s *Server) limitUser(ctx context.Context, _ route.Request, c route.Caller) (route.Limit, error) {
	limit := s.userLimit(identityOf(c))
	if limit == (projections.Limit{}) || c.Principal == "" || c.Settle != nil {
		return route.Limit{}, nil
	}
	if h, ok := c.Detail.(holder); ok && h.counted != nil {
		return route.Limit{Name: "user", Quota: *h.counted}, nil
	}
	left, err := s.Limits.Take(ctx, limit.Key, limit.Calls, limit.Window)
	return route.Limit{Name: "user", Quota: left}, err
}
