package projections

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/ratelimit"
)

// A CallerCheck is what a call takes for granted about its user, and how often
// that user may call. Whether it is so is asked along with the first question
// of the call, in the same round trip and the same transaction
// (docs/security.md, "Tokens"). It belongs to one call.
type CallerCheck struct {
	User    int64
	Tenant  int64     // for which they act; 0: none
	Session int       // the version of the user's sessions
	SignIn  uuid.UUID // the one that the token comes from, which may have been ended; zero: none
	Version int       // of the user's stream; 0: whichever
	Limit   Limit

	asked, holds atomic.Bool
	quota        domain.Quota
}

// A Limit is how many calls are counted under a key, in a sliding window. The
// zero Limit counts nothing.
type Limit struct {
	Key    string
	Calls  int
	Window time.Duration
}

// Given reads as long as the user's standing is this one. What was read may
// not be used before [Scope.Holds] has said so.
func (s Scope) Given(standing *CallerCheck) Scope {
	r := *s.db
	r.standing = standing
	return scopeOver(r)
}

// Holds tells whether the standing was as the caller of [Scope.Given] took it
// to be, after all that was asked first, and what is left of the limit. If
// nothing was asked yet, this asks. A call in a wrong standing, or one that
// came to nothing, is not counted.
func (s Scope) Holds(ctx context.Context) (domain.Quota, bool) {
	if !s.db.standing.asked.Load() && s.db.ask(ctx, func(*pgx.Batch) {}) != nil {
		return domain.Quota{}, false
	}
	return s.db.standing.quota, s.db.standing.holds.Load()
}

// join puts the question for the standing behind the first others, so that the
// row that counts the calls is locked no longer than it takes. It is heard even
// if an answer before it cannot be read; the returned function tells that error.
func (s *CallerCheck) join(b *pgx.Batch) (unread func() error) {
	var first error
	if s == nil || s.asked.Swap(true) {
		return func() error { return nil }
	}
	for _, question := range b.QueuedQueries {
		if read := question.Fn; read != nil {
			question.Fn = func(r pgx.BatchResults) error {
				if err := read(r); first == nil {
					first = err
				}
				return nil
			}
		}
	}
	s.queue(b)
	return func() error { return first }
}

func (s *CallerCheck) queue(b *pgx.Batch) {
	if s.Limit == (Limit{}) {
		b.Queue(`select`+stands("$1", "$2", "$3", "$4", "$5"), s.User, s.Session, s.Version, s.Tenant, s.SignIn).QueryRow(
			s.hear(func(r pgx.Row) error { return r.Scan() }),
		)
		return
	}
	args := append(ratelimit.TakeArgs(s.Limit.Key, s.Limit.Calls, s.Limit.Window), s.User, s.Session, s.Version, s.Tenant, s.SignIn)
	b.Queue(countIfStands, args...).QueryRow(s.hear(func(r pgx.Row) error {
		s.quota = domain.Quota{Limit: s.Limit.Calls, Window: s.Limit.Window}
		return ratelimit.ScanQuota(r, &s.quota)
	}))
}

// hear takes a row for yes, and none for no.
func (s *CallerCheck) hear(read func(pgx.Row) error) func(pgx.Row) error {
	return func(r pgx.Row) error {
		err := read(r)
		s.holds.Store(err == nil)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	}
}

var countIfStands = ratelimit.TakeIf(stands("$4", "$5", "$6", "$7", "$8"))

// stands is the row of the user, if the standing is still the same. Every event
// that changes what a user may do raises the version, but the erasure and the
// end of the tenant for which they act, or its move to another parent, and the sign-out.
func stands(user, session, version, tenant, signIn string) string {
	return ` from users u where u.id = ` + user + ` and u.session_version = ` + session + ` and ` + version +
		` in (0, u.version) and u.is_active and ` + notErased +
		` and (` + version + ` = 0 or u.active_through is null or ` + subTenant(`u.active_tenant`) + `)` +
		` and not exists (select from resources ended where ended.kind = 'tenant' and ended.id = ` + tenant + ` and not ended.present)` +
		` and not exists (select from refresh_families f where f.family = ` + signIn + ` and f.revoked_at is not null)`
}
