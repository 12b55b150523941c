package credentials

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// ErrSession means that a session in a browser has ended, or never was.
var ErrSession = domain.Refuse(domain.NotFound, "The session has ended.")

// sessionLives holds while somebody is signed in in a browser: half a day at
// most, and half an hour without a visit (docs/security.md, "Browser sessions").
const sessionLives = `started_at > real_now() - interval '12 hours' and seen_at > real_now() - interval '30 minutes'`

// OpenSession begins a user's session in a browser. Its id, 256 random bits in
// URL form, is known to the browser alone: its hash is kept.
func (v *Vault) OpenSession(ctx context.Context, user int64, version int) (id string, err error) {
	id = NewToken()
	_, err = v.pool.Exec(ctx, `insert into browser_sessions (hash, user_id, version) values ($1, $2, $3)`, hashOf(id), user, version)
	if err != nil {
		return "", fmt.Errorf("open a session: %w", eventstore.Unavailable(err))
	}
	return id, nil
}

// Session is the session with this id, if it has not ended. To look at it is a
// visit; visits are noted once a minute.
func (v *Vault) Session(ctx context.Context, id string) (domain.Session, bool, error) {
	var found domain.Session
	var confirmed *time.Time
	err := v.pool.QueryRow(ctx, `
		with visited as (
			update browser_sessions set seen_at = real_now() where hash = $1 and seen_at < real_now() - interval '1 minute' and `+sessionLives+`
		)
		select user_id, version, started_at, confirmed_at from browser_sessions where hash = $1 and `+sessionLives, hashOf(id)).
		Scan(&found.User, &found.Version, &found.StartedAt, &confirmed)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Session{}, false, nil
	}
	if err != nil {
		return domain.Session{}, false, fmt.Errorf("look up a session: %w", eventstore.Unavailable(err))
	}
	found.StartedAt, found.ConfirmedAt = found.StartedAt.UTC(), confirmedAt(confirmed)
	return found, true, nil
}

// RenewSession gives a session a new id, after its user was asked for the
// password again. The old id opens nothing any more. A session that has ended
// is [ErrSession].
func (v *Vault) RenewSession(ctx context.Context, id string) (newID string, err error) {
	newID = NewToken()
	tag, err := v.pool.Exec(ctx, `update browser_sessions set hash = $2, confirmed_at = real_now(), seen_at = real_now() where hash = $1 and `+sessionLives,
		hashOf(id), hashOf(newID))
	switch {
	case err != nil:
		return "", fmt.Errorf("renew a session: %w", eventstore.Unavailable(err))
	case tag.RowsAffected() == 0:
		return "", ErrSession
	}
	return newID, nil
}

// EndSession signs a browser out. One that has ended already is left so.
func (v *Vault) EndSession(ctx context.Context, id string) error {
	if _, err := v.pool.Exec(ctx, `delete from browser_sessions where hash = $1`, hashOf(id)); err != nil {
		return fmt.Errorf("end a session: %w", eventstore.Unavailable(err))
	}
	return nil
}

func confirmedAt(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
