package credentials

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// ErrSession means that a browser session has ended, or never existed.
var ErrSession = domain.Refuse(domain.NotFound, "The session has ended.")

// sessionLives is the condition of a live browser session: not too old, and visited a
// while ago at most, unless its user stays signed in (docs/security.md, "Browser sessions").
func (v *Vault) sessionLives() string {
	return `(case when stays then started_at > real_now() - ` + interval(v.times.SessionStay) +
		` else started_at > real_now() - ` + interval(v.times.SessionLife) +
		` and seen_at > real_now() - ` + interval(v.times.SessionIdle) + ` end)`
}

// OpenSession starts a user's browser session. The id, 256 random bits in base64,
// goes to the browser; only its hash is stored.
func (v *Vault) OpenSession(ctx context.Context, user int64, version int) (id string, err error) {
	id = NewToken()
	_, err = v.pool.Exec(ctx, `insert into browser_sessions (hash, user_id, version) values ($1, $2, $3)`, hashOf(id), user, version)
	if err != nil {
		return "", fmt.Errorf("open a session: %w", eventstore.Unavailable(err))
	}
	return id, nil
}

// MayStay tells whether users may stay signed in at a browser.
func (v *Vault) MayStay() bool { return v.times.SessionStay > 0 }

// StaySignedIn lets a session that has just begun go on without visits, and returns when
// it ends.
func (v *Vault) StaySignedIn(ctx context.Context, id string) (until time.Time, err error) {
	err = v.pool.QueryRow(ctx, `update browser_sessions set stays = true where hash = $1
		returning started_at + `+interval(v.times.SessionStay), hashOf(id)).Scan(&until)
	if err != nil {
		return time.Time{}, fmt.Errorf("keep a session: %w", eventstore.Unavailable(err))
	}
	return until.UTC(), nil
}

// Session returns the session with this id, if it has not ended. The call counts
// as a visit; visits are recorded once a minute.
func (v *Vault) Session(ctx context.Context, id string) (domain.Session, bool, error) {
	return v.session(ctx, id, `
		with visited as (
			update browser_sessions set seen_at = real_now() where hash = $1
				and seen_at < real_now() - interval '1 minute' and `+v.sessionLives()+`
		)`+v.selectSession())
}

// PeekSession is Session without a visit.
func (v *Vault) PeekSession(ctx context.Context, id string) (domain.Session, bool, error) {
	return v.session(ctx, id, v.selectSession())
}

// SessionStands tells whether a user's session with this number, which is no secret, has not
// ended. It counts as a visit if the user has done something.
func (v *Vault) SessionStands(ctx context.Context, user int64, id uuid.UUID, visit bool) (stands bool, err error) {
	err = v.pool.QueryRow(ctx, `
		with visited as (
			update browser_sessions set seen_at = real_now() where $3 and id = $2 and user_id = $1
				and seen_at < real_now() - interval '1 minute' and `+v.sessionLives()+`
		) select exists (select from browser_sessions where id = $2 and user_id = $1 and `+v.sessionLives()+`)`,
		user, id, visit).Scan(&stands)
	if err != nil {
		return false, fmt.Errorf("look whether a session stands: %w", eventstore.Unavailable(err))
	}
	return stands, nil
}

// CountSessions counts a user's sessions that have not ended. A session of another
// version of the account is over.
func (v *Vault) CountSessions(ctx context.Context, user int64, version int) (n int64, err error) {
	err = v.pool.QueryRow(
		ctx, `select count(*) from browser_sessions where user_id = $1 and version = $2 and `+v.sessionLives(), user,
		version,
	).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count the sessions of a user: %w", eventstore.Unavailable(err))
	}
	return n, nil
}

func (v *Vault) selectSession() string {
	return ` select id, user_id, version, started_at, confirmed_at, case when stays then started_at + ` + interval(v.times.SessionStay) +
		` end from browser_sessions where hash = $1 and ` + v.sessionLives()
}

func (v *Vault) session(ctx context.Context, id, query string) (domain.Session, bool, error) {
	var found domain.Session
	var confirmed, stays *time.Time
	err := v.pool.QueryRow(ctx, query, hashOf(id)).Scan(&found.ID, &found.User, &found.Version, &found.StartedAt, &confirmed, &stays)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Session{}, false, nil
	}
	if err != nil {
		return domain.Session{}, false, fmt.Errorf("look up a session: %w", eventstore.Unavailable(err))
	}
	found.StartedAt, found.ConfirmedAt, found.StaysUntil = found.StartedAt.UTC(), orZero(confirmed), orZero(stays)
	return found, true, nil
}

// RenewSession gives a session a new id, after its user has entered the password
// again. The old id becomes invalid. An ended session returns [ErrSession].
func (v *Vault) RenewSession(ctx context.Context, id string) (newID string, err error) {
	newID = NewToken()
	tag, err := v.pool.Exec(ctx, `update browser_sessions set hash = $2, confirmed_at = real_now(), seen_at = real_now()
		where hash = $1 and `+v.sessionLives(),
		hashOf(id), hashOf(newID))
	switch {
	case err != nil:
		return "", fmt.Errorf("renew a session: %w", eventstore.Unavailable(err))
	case tag.RowsAffected() == 0:
		return "", ErrSession
	}
	return newID, nil
}

// EndSession signs a browser out. It has no effect on an ended session.
func (v *Vault) EndSession(ctx context.Context, id string) error {
	if _, err := v.pool.Exec(ctx, `delete from browser_sessions where hash = $1`, hashOf(id)); err != nil {
		return fmt.Errorf("end a session: %w", eventstore.Unavailable(err))
	}
	return nil
}

// orZero is a moment in UTC; zero: there is none.
func orZero(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
