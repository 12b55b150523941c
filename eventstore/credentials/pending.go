package credentials

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// pendingLives is the condition of a sign-in that may still be completed.
const pendingLives = `started_at > real_now() - interval '10 minutes'`

// BeginSignIn keeps that a browser's user has given the password and not yet the
// code. The id goes to the browser; only its hash is stored. It is no session.
func (v *Vault) BeginSignIn(ctx context.Context, user int64, version int) (id string, err error) {
	id = NewToken()
	_, err = v.pool.Exec(ctx, `insert into pending_sign_ins (hash, user_id, version) values ($1, $2, $3)`, hashOf(id), user, version)
	if err != nil {
		return "", fmt.Errorf("begin a sign-in: %w", eventstore.Unavailable(err))
	}
	return id, nil
}

// PendingSignIn returns who signs in at a browser, if the code is awaited there.
func (v *Vault) PendingSignIn(ctx context.Context, id string) (found domain.Session, known bool, err error) {
	err = v.pool.QueryRow(ctx, `select user_id, version, started_at from pending_sign_ins where hash = $1 and `+pendingLives, hashOf(id)).
		Scan(&found.User, &found.Version, &found.StartedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Session{}, false, nil
	}
	if err != nil {
		return domain.Session{}, false, fmt.Errorf("look up a sign-in: %w", eventstore.Unavailable(err))
	}
	found.StartedAt = found.StartedAt.UTC()
	return found, true, nil
}

// EndSignIn ends the wait for a code at a browser.
func (v *Vault) EndSignIn(ctx context.Context, id string) error {
	if _, err := v.pool.Exec(ctx, `delete from pending_sign_ins where hash = $1`, hashOf(id)); err != nil {
		return fmt.Errorf("end a sign-in: %w", eventstore.Unavailable(err))
	}
	return nil
}
