package http

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

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
		Identify: s.identify, Limit: s.limitUser,
	}
}

// superuser admits those who operate the installation.
func (s *Server) superuser() route.Access {
	return s.onlyFor("superuser", func(who identity) bool { return who.IsSuperuser })
}

// tenantAdmin admits administrators of their active tenant, and superusers.
func (s *Server) tenantAdmin() route.Access {
	return s.onlyFor("tenant administrator", func(who identity) bool { return who.IsSuperuser || who.Role == account.Admin })
}

// onlyFor admits users of one sort. Who is turned away is written down.
func (s *Server) onlyFor(rule string, may func(identity) bool) route.Access {
	return s.user().As(rule).Requiring(func(ctx context.Context, r route.Request, c route.Caller) error {
		if who := identityOf(c); !may(who) {
			s.noteDenied(ctx, r, who.User)
			return route.NoPermission
		}
		return nil
	})
}

// writing admits users who have an active tenant to write in. Superusers may
// name one in the request instead.
func (s *Server) writing() route.Access {
	return s.user().As("user with an active tenant").Requiring(func(_ context.Context, _ route.Request, c route.Caller) error {
		if who := identityOf(c); who.ActiveTenant == nil && !who.IsSuperuser {
			return noActiveTenant
		}
		return nil
	})
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

// scope is what the caller may read.
func (s *Server) scope(c route.Call) projections.Scope { return s.Tables.For(callerOf(c).reader()) }

// identify tells who has signed in, by the header Authorization.
func (s *Server) identify(ctx context.Context, r route.Request) (route.Caller, error) {
	text, err := bearerToken(r.Header.Values("Authorization"))
	if err != nil {
		return route.Caller{}, err
	}
	token, err := s.read(text, accessToken)
	if err != nil {
		return route.Caller{}, refusedAccess(err)
	}
	who, err := s.holderOf(ctx, token)
	if err != nil {
		if who.ID != 0 {
			s.noteDenied(ctx, r, who.User)
		}
		return route.Caller{}, refusedAccess(err)
	}
	return who.caller(), nil
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

// holderOf is the user of a valid token. The error is the refusal, for a token
// of somebody who is there with the identity besides.
func (s *Server) holderOf(ctx context.Context, token claims) (identity, error) {
	id, err := strconv.ParseInt(token.User, 10, 64)
	if err != nil || id < 1 {
		return identity{}, noUserInToken
	}
	found, known, err := s.system().Identity(ctx, id)
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

// limitUser counts the calls of a user.
func (s *Server) limitUser(ctx context.Context, _ route.Request, c route.Caller) (route.Limit, error) {
	const perMinute = 600
	if !s.Settings.Abuse || c.Principal == "" {
		return route.Limit{}, nil
	}
	left, err := s.Limits.Take(ctx, c.Principal, perMinute, time.Minute)
	return route.Limit{Name: "user", Quota: left}, err
}
