// Package accounts is where programs and people sign in: tokens for programs,
// sessions for browsers, and what users change of their own account.
package accounts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Deps are what the area consists of besides itself.
type Deps struct {
	Web      *web.Renderer
	Callers  *caller.Callers
	Commands record.Commands
	Accounts Accounts
	Tokens   Tokens
	Sessions caller.Sessions
}

type handlers struct{ Deps }

// asked is what is asked for beside the password.
func (s *handlers) asked() caller.SecondFactor { return caller.SecondFactor{Callers: s.Callers} }

// Accounts changes passwords together with what is stored beside the log, all
// or nothing. A link that is used, expired or unknown is refused with
// domain.NotFound.
type Accounts interface {
	// TokenUser returns whose one-time link it is, without using it up.
	TokenUser(ctx context.Context, token string) (user int64, err error)
	// Set uses a link up and sets the password of its user.
	Set(ctx context.Context, cause domain.Metadata, token, password string) error
	// Change sets a user's password, after it has carried out more commands.
	Change(ctx context.Context, cause domain.Metadata, user int64, password string, more ...domain.Command) error
	// AskReset mails a link to set a new password if the address has an
	// account. It does the same work if it has none.
	AskReset(ctx context.Context, email string) error

	Factors
}

// Factors sets up second factors. What is impossible at present is refused with
// domain.Conflict.
type Factors interface {
	// ProposeFactor makes a secret. It is not in force before EnableFactor.
	ProposeFactor(ctx context.Context, user int64) (secret string, err error)
	// ProposedFactor is the secret that is being set up; "": there is none.
	ProposedFactor(ctx context.Context, user int64) (secret string, err error)
	// EnableFactor puts the secret in force, ends sessions and tokens, and returns
	// recovery codes. A wrong code is refused at the field otp.
	EnableFactor(ctx context.Context, cause domain.Metadata, user int64, code string) (recovery []string, err error)
	// RenewRecoveryCodes returns new recovery codes. The former ones end.
	RenewRecoveryCodes(ctx context.Context, cause domain.Metadata, user int64) (recovery []string, err error)
	// DisableFactor lets the password suffice again. An operator gives a reason.
	DisableFactor(ctx context.Context, cause domain.Metadata, user int64, reason string) error
	RecoveryCodesLeft(ctx context.Context, user int64) (int, error)
}

// Tokens keeps which refresh tokens are good. They are named by their jti; all
// that came of one sign-in are a family.
type Tokens interface {
	IssueRefresh(ctx context.Context, jti string, family uuid.UUID, user int64, version int, until time.Time) error
	// RotateRefresh uses the old one up and issues the new one in its place.
	RotateRefresh(ctx context.Context, old, new string, until time.Time) (domain.Rotation, error)
	RevokeRefresh(ctx context.Context, jti string) (domain.Rotation, error)
	// RefreshState looks at one without changing anything.
	RefreshState(ctx context.Context, jti string) (domain.Rotation, error)
}

// Routes are the endpoints for programs: tokens and the own account.
func Routes(d Deps) []route.Area {
	s := &handlers{d}
	return []route.Area{s.tokenArea(), s.ownArea()}
}

// PageRoutes are the pages on which people sign in and change their account.
func PageRoutes(d Deps) []route.Area {
	s := &handlers{d}
	return []route.Area{s.loginPages(), s.accountPages(), factors{s}.pages()}
}
