package accounts

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/eventstore/clock"
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

const tokensPath = "/api/token/"

// area is where programs sign in (docs/security.md, "Tokens").
func (s *tokens) area() route.Area {
	access := route.Open
	access.Challenge = caller.BearerChallenge
	return route.Area{
		Name: "Tokens", Prefix: tokensPath, Access: access,
		About: "Signing in. A pair of tokens comes for a name and a password: one for calls, one for the next pair.",
		Routes: []route.Route{
			tokenRoute(tokensPath, "Sign in with a name and a password", s.signIn).As("token_obtain").
				Failing(
					http.StatusUnauthorized,
					"There is no active account with this name and password; or the account has a second factor, and "+
						"otp is missing or wrong (otp_required).",
				).
				Failing(http.StatusTooManyRequests, "The password or the code was wrong too often."),
			tokenRoute(tokensPath+"refresh/", "Get the next pair of tokens; the refresh token is used up", s.refresh).As("token_refresh").
				Failing(
					http.StatusUnauthorized,
					"The token is invalid, expired, used up, of another type, or its user may not sign in any more.",
				),
			tokenRoute(tokensPath+"verify/", "Ask whether a token is good", s.verify).As("token_verify").
				Failing(http.StatusUnauthorized, "It is not."),
			tokenRoute(tokensPath+"blacklist/", "Sign out: end a refresh token", s.blacklist).As("token_blacklist").
				Failing(http.StatusUnauthorized, "The token is no good refresh token, or has been ended before."),
		},
	}
}

// tokenRoute declares an endpoint whose answers must not be cached.
func tokenRoute[Q, A any, PQ interface {
	*Q
	field.Record
}, PA interface {
	*A
	field.Record
}](path, summary string, do func(context.Context, route.Call, PQ) (PA, error)) route.Route {
	return route.Post[Q, A, PQ, PA](path, summary, do).With(http.StatusOK).Caching("no-store").Keeping("")
}

// login is the body of a sign-in.
type login struct{ Username, Password, Code string }

// Fields are the credentials (docs/api.md, "Tokens").
func (l *login) Fields() field.Set {
	return field.Set{
		field.Text("username", &l.Username).Required().KnownAs("email").Doc("The address of the account; may be sent as email too."),
		field.Text("password", &l.Password).Required().Verbatim().Max(account.PasswordRead).Secret(),
		otpField(&l.Code).Blank().Default("").Doc("For accounts with a second factor: the code that the app shows, or a recovery code."),
	}
}

// otpField is a code of the second factor.
func otpField(at *string) field.Field {
	const longest = 64
	return field.Text("otp", at).Max(longest).Secret()
}

// pair is what signing in gives.
type pair struct{ Refresh, Access string }

// Fields are both tokens.
func (p *pair) Fields() field.Set {
	return field.Set{
		field.Text("refresh", &p.Refresh).Doc("Good for the next pair, once, within 7 days."),
		field.Text("access", &p.Access).Doc("For the header Authorization, an hour long."),
	}
}

// renewedPair is a pair in the order in which a refresh shows it.
type renewedPair pair

// Fields are both tokens.
func (p *renewedPair) Fields() field.Set { f := (*pair)(p).Fields(); return field.Set{f[1], f[0]} }

func (s *tokens) signIn(ctx context.Context, c route.Call, l *login) (*pair, error) {
	user, err := s.callers.Authenticate(ctx, c, caller.Proof(*l), account.ThroughToken)
	if err != nil {
		return nil, err
	}
	return s.issue(ctx, user.ID, user.SessionVersion)
}

// issue makes the first pair of a family.
func (s *tokens) issue(ctx context.Context, user int64, version int) (*pair, error) {
	family := uuid.New()
	p, id, until, err := s.pair(user, version, family)
	if err != nil {
		return nil, err
	}
	return p, s.tokens.IssueRefresh(ctx, id, family, user, version, until)
}

// pair signs both tokens; id is that of the refresh token, which is not known
// yet.
func (s *tokens) pair(user int64, version int, family uuid.UUID) (p *pair, id string, until time.Time, err error) {
	p, until = &pair{}, clock.Now().UTC().Add(caller.RefreshTime)
	if p.Refresh, id, err = s.callers.Tokens.Sign(caller.RefreshToken, user, version, family, until); err == nil {
		p.Access, _, err = s.callers.Tokens.Sign(caller.AccessToken, user, version, family, clock.Now().Add(caller.AccessTime))
	}
	return p, id, until, err
}

// shownRefresh is a request that brings a refresh token.
type shownRefresh struct{ Refresh string }

// Fields are the token.
func (r *shownRefresh) Fields() field.Set { return field.Set{tokenField("refresh", &r.Refresh)} }

// shownToken is a request that brings a token of either type.
type shownToken struct{ Token string }

// Fields are the token.
func (t *shownToken) Fields() field.Set { return field.Set{tokenField("token", &t.Token)} }

// tokenField takes texts of any length: those that are too long are no tokens.
func tokenField(name string, at *string) field.Field {
	return field.Text(name, at).Required().Max(1 << 20).Secret()
}

var noAccountOfToken = &route.Refusal{
	Status: http.StatusUnauthorized, Slug: "not_authenticated",
	Detail: "No active account found for the given token.",
}

// refresh gives the next pair for a refresh token, once.
func (s *tokens) refresh(ctx context.Context, c route.Call, shown *shownRefresh) (*renewedPair, error) {
	token, who, err := s.shown(ctx, shown.Refresh, caller.RefreshToken)
	if err != nil {
		return nil, err
	}
	next, id, until, err := s.pair(who.ID, who.SessionVersion, token.SignIn)
	if err != nil {
		return nil, err
	}
	rotation, err := s.tokens.RotateRefresh(ctx, token.ID, id, until)
	if err != nil {
		return nil, err
	}
	if err := s.worth(ctx, c, rotation); err != nil {
		return nil, caller.RefusedToken(err)
	}
	return (*renewedPair)(next), nil
}

// shown is the holder of a token that came in a body.
func (s *tokens) shown(ctx context.Context, text string, as caller.TokenType) (caller.Claims, caller.Identity, error) {
	token, err := s.callers.Tokens.Read(text, as)
	if err != nil {
		return token, caller.Identity{}, caller.RefusedToken(err)
	}
	who, err := s.callers.HolderOf(ctx, token)
	switch {
	case errors.Is(err, caller.UserGone), errors.Is(err, caller.UserInactive):
		err = noAccountOfToken
	case errors.Is(err, caller.NoUserInToken):
		err = caller.TokenInvalid
	}
	return token, who, caller.RefusedToken(err)
}

// worth tells what a refresh token was worth: nothing, a badToken. One that is
// shown again long after it was used has been copied.
func (s *tokens) worth(ctx context.Context, c route.Call, r domain.Rotation) error {
	switch r.State {
	case domain.TokenFresh:
		return nil
	case domain.TokenReused:
		if err := s.callers.NoteReuse(ctx, c, r); err != nil {
			return err
		}
		return caller.TokenBlacklisted
	case domain.TokenUsed:
		return caller.TokenBlacklisted
	default:
		return caller.TokenInvalid
	}
}

// verify tells whether a token is good at this moment.
func (s *tokens) verify(ctx context.Context, _ route.Call, shown *shownToken) (*route.Nothing, error) {
	token, who, err := s.shown(ctx, shown.Token, caller.AnyToken)
	if err == nil && token.Type == caller.AccessToken && s.callers.IsEnded(ctx, token, who) {
		err = caller.RefusedToken(caller.TokenInvalid)
	}
	if err != nil || token.Type != caller.RefreshToken {
		return &route.Nothing{}, err
	}
	rotation, err := s.tokens.RefreshState(ctx, token.ID)
	switch {
	case err != nil:
		return nil, err
	case rotation.State == domain.TokenFresh:
		return &route.Nothing{}, nil
	case rotation.State == domain.TokenUnknown:
		return nil, caller.RefusedToken(caller.TokenInvalid)
	}
	return nil, domain.RefuseField(field.NonField, string(caller.TokenBlacklisted))
}

// blacklist ends a refresh token, in any state of its user.
func (s *tokens) blacklist(ctx context.Context, c route.Call, shown *shownRefresh) (*route.Nothing, error) {
	token, err := s.callers.Tokens.Read(shown.Refresh, caller.RefreshToken)
	if err != nil {
		return nil, caller.RefusedToken(err)
	}
	rotation, err := s.tokens.RevokeRefresh(ctx, token.ID)
	if err != nil {
		return nil, err
	}
	return &route.Nothing{}, caller.RefusedToken(s.worth(ctx, c, rotation))
}
