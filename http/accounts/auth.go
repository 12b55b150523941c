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
	Demo     map[string]string // e-mails of the accounts that sign in by a button, by the form's name; nil: this is no demo
}

// An Area is how people and programs sign in, and the own account, by what it is about.
type Area struct {
	web     *web.Renderer
	callers *caller.Callers

	entrance  entrance
	passwords passwords
	profile   profile
	tokens    tokens
	factors   factors
	signIns   signIns
}

type (
	// entrance is the pages where people come in and go out.
	entrance struct {
		web       *web.Renderer
		callers   *caller.Callers
		sessions  caller.Sessions
		passwords *passwords
		demo      map[string]string
	}
	// passwords are set by the links in mails, which are sent on request.
	passwords struct {
		web      *web.Renderer
		callers  *caller.Callers
		accounts Accounts
		entrance *entrance
	}
	// profile is what users see and change of their own account.
	profile struct {
		web      *web.Renderer
		callers  *caller.Callers
		commands record.Commands
		accounts Accounts
		sessions caller.Sessions
		tokens   *tokens
	}
	// tokens are those of programs.
	tokens struct {
		callers *caller.Callers
		tokens  Tokens
	}
	// factors are the second factors of users.
	factors struct {
		web      *web.Renderer
		callers  *caller.Callers
		accounts Accounts
		sessions caller.Sessions
	}
	// signIns are sessions and tokens as their user sees them.
	signIns struct {
		web      *web.Renderer
		sessions caller.Sessions
	}
)

// New returns the area with what it needs of the rest of the program.
func New(d Deps) *Area {
	a := &Area{
		web: d.Web, callers: d.Callers,
		passwords: passwords{web: d.Web, callers: d.Callers, accounts: d.Accounts},
		tokens:    tokens{d.Callers, d.Tokens},
		factors:   factors{d.Web, d.Callers, d.Accounts, d.Sessions},
		signIns:   signIns{d.Web, d.Sessions},
	}
	a.entrance = entrance{d.Web, d.Callers, d.Sessions, &a.passwords, d.Demo}
	a.passwords.entrance = &a.entrance
	a.profile = profile{d.Web, d.Callers, d.Commands, d.Accounts, d.Sessions, &a.tokens}
	return a
}

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
func (a *Area) Routes() []route.Area { return []route.Area{a.tokens.area(), a.ownArea()} }

// PageRoutes are the pages on which people sign in and change their account.
func (a *Area) PageRoutes() []route.Area {
	return []route.Area{a.entrance.pages(), a.accountPages(), a.factors.pages()}
}
