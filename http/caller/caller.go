// Package caller tells who makes a call and what they may do: access tokens,
// sessions of browsers, API keys of the storefront, the limits against abuse,
// and the security journal.
package caller

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Callers knows who calls, and what they may do and read.
type Callers struct {
	Limiter *Limiter
	Tokens  TokenKeys
	Keys    *Keys
	Factor  *SecondFactor
	journal *journal
	deps    Deps
}

// Deps are what callers are known by.
type Deps struct {
	Tables      *projections.Tables
	Commands    record.Commands
	Credentials Credentials
	Sessions    Sessions
	Limits      Limits
	Once        route.OnceKeys
	TokenKeys   []TokenKey // the first signs tokens, all open them
	PublicURL   func() string
	Abuse       bool             // whether the limits against abuse hold
	Factor      bool             // whether superusers need a second factor
	Now         func() time.Time // business time; nil: the real time
	AsOf        time.Time        // the moment of a view of the past; zero: the present
	Log         *slog.Logger
	Caches      *Caches
}

// Caches remember callers for a moment between their calls. All [Callers] of one
// server share them. The zero value is empty and ready to use.
type Caches struct {
	keys      keyring
	tokens    memory
	malformed tally
}

// isPast tells whether this is a view of the past. It is for superusers, and counts no
// calls.
func (d Deps) isPast() bool { return !d.AsOf.IsZero() }

// New returns the callers of a panel.
func New(d Deps) *Callers {
	d.Now = clock.Or(d.Now)
	l := &Limiter{d.Limits, d.Once, d.Abuse}
	j := &journal{d.Commands, d.Limits, d.Now, d.Log}
	return &Callers{
		Limiter: l, Tokens: d.TokenKeys, journal: j, deps: d,
		Keys:   &Keys{d.Tables, d.Caches, l, j, d.PublicURL, d.isPast()},
		Factor: &SecondFactor{d.Credentials, l, j, d.Factor, d.isPast()},
	}
}

// Now is the business time in UTC: that of what callers do. In a view of the past it is the moment
// of the view, from which all that is shown follows.
func (s *Callers) Now() time.Time {
	if s.deps.isPast() {
		return s.deps.AsOf.UTC()
	}
	return s.deps.Now().UTC()
}

// Log is where what callers need not know is written.
func (s *Callers) Log() *slog.Logger { return s.deps.Log }

// System reads as the program itself, where the caller is a browser that
// holds nothing but an unguessable address.
func (s *Callers) System() projections.Scope { return s.deps.Tables.For(projections.System) }

// Reading is what a user may read.
func (s *Callers) Reading(who Identity) projections.Scope { return s.deps.Tables.For(who.Reader()) }

// Limits counts calls in sliding windows, shared by all processes.
type Limits interface {
	route.Limits
	// GiveBack undoes the last call of a key: it never came.
	GiveBack(ctx context.Context, key string) error
	// Forget lets a key begin anew.
	Forget(ctx context.Context, key string) error
}

// Credentials knows passwords. It takes as long for a user without one, and for
// user 0, who does not exist.
type Credentials interface {
	CheckPassword(ctx context.Context, user int64, password string) (bool, error)
	// UseFactorCode and UseRecoveryCode tell whether a code of the second factor
	// is right. A right one is used up.
	UseFactorCode(ctx context.Context, user int64, code string) (bool, error)
	UseRecoveryCode(ctx context.Context, user int64, code string) (bool, error)
}

// Sessions keeps those of people in browsers, by a secret that their cookie
// holds.
type Sessions interface {
	OpenSession(ctx context.Context, user int64, version int) (id string, err error)
	// StaySignedIn lets a new session go on without visits, if MayStay.
	StaySignedIn(ctx context.Context, id string) (until time.Time, err error)
	MayStay() bool
	// Session counts as a visit; PeekSession does not.
	Session(ctx context.Context, id string) (domain.Session, bool, error)
	PeekSession(ctx context.Context, id string) (domain.Session, bool, error)
	// RenewSession gives the session a new secret, after the password was
	// asked for again.
	RenewSession(ctx context.Context, id string) (newID string, err error)
	EndSession(ctx context.Context, id string) error

	// KeepForm keeps what a user typed into a form when the session had ended, and KeptForm
	// returns it; nil: nothing is kept.
	KeepForm(ctx context.Context, user int64, typed []byte) error
	KeptForm(ctx context.Context, user int64) ([]byte, error)

	// SignIns are the browsers and programs in which a user has signed in under a
	// session version. CloseSignIn ends one, CloseOtherSignIns all but one.
	SignIns(ctx context.Context, user int64, version int, offset, limit int64) (all []domain.SignIn, count int64, err error)
	CloseSignIn(ctx context.Context, user int64, version int, id uuid.UUID) (was bool, err error)
	CloseOtherSignIns(ctx context.Context, user int64, version int, kept uuid.UUID) (ended int64, err error)

	// BeginSignIn keeps that a browser's user has given the password and not yet
	// the code. It is no session.
	BeginSignIn(ctx context.Context, user int64, version int) (id string, err error)
	PendingSignIn(ctx context.Context, id string) (domain.Session, bool, error)
	EndSignIn(ctx context.Context, id string) error
}

// Reads reads a list of an area's read tables in the scope of each caller.
func Reads[R, A any](
	s *Callers, area func(projections.Scope) R, read func(R, context.Context, projections.Listing) (projections.Listed[A], error),
) func(context.Context, route.Call, projections.Listing) (projections.Listed[A], error) {
	return func(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[A], error) {
		return read(area(s.Scope(c)), ctx, l)
	}
}
