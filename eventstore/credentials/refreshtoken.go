package credentials

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// IssueRefresh keeps the first refresh token of a sign-in, which begins a
// family. Of the token's id (jti) only the hash is kept.
func (v *Vault) IssueRefresh(ctx context.Context, jti string, family uuid.UUID, user int64, until time.Time) error {
	_, err := v.pool.Exec(ctx, `
		with began as (insert into refresh_families (family, user_id, expires_at) values ($2, $3, $4))
		insert into refresh_tokens (hash, family, expires_at) values ($1, $2, $4)`, hashOf(jti), family, user, until)
	if err != nil {
		return fmt.Errorf("issue a refresh token: %w", eventstore.Unavailable(err))
	}
	return nil
}

// showToken looks at a token ($1) and at its family. What is done with it
// takes turns: both rows are locked, and the one who waited sees what the
// other has left. Ten seconds forgive a client that refreshes twice at once.
const showToken = `
	select t.hash, f.family, f.user_id, case
		when f.revoked_at is not null then 'used'
		when t.used_at is null then 'fresh'
		when t.used_at > real_now() - interval '10 seconds' then 'used'
		else 'reused' end state
	from refresh_tokens t join refresh_families f using (family)
	where t.hash = $1 and t.expires_at > real_now()`

// revokeReused ends the family of a token that somebody has copied.
const revokeReused = `update refresh_families f set revoked_at = real_now() from shown where f.family = shown.family and shown.state = 'reused'`

// RotateRefresh replaces a refresh token by a new one of its family. Unless
// the old one is [domain.TokenFresh] the new one has not been issued.
func (v *Vault) RotateRefresh(ctx context.Context, old, fresh string, until time.Time) (domain.Rotation, error) {
	return v.showRefresh(ctx, "rotate", `
		with shown as (`+showToken+` for update), revoked as (`+revokeReused+`), used as (
			update refresh_tokens t set used_at = real_now() from shown where t.hash = shown.hash and shown.state = 'fresh'
		), kept as (
			update refresh_families f set expires_at = greatest(f.expires_at, $3) from shown where f.family = shown.family and shown.state = 'fresh'
		), issued as (
			insert into refresh_tokens (hash, family, expires_at) select $2, family, $3 from shown where state = 'fresh'
		)
		select family, user_id, state from shown`, hashOf(old), hashOf(fresh), until)
}

// RevokeRefresh ends a refresh token, and so its family, if it was
// [domain.TokenFresh].
func (v *Vault) RevokeRefresh(ctx context.Context, jti string) (domain.Rotation, error) {
	return v.showRefresh(ctx, "revoke", `
		with shown as (`+showToken+` for update), revoked as (
			update refresh_families f set revoked_at = real_now() from shown where f.family = shown.family and shown.state in ('fresh', 'reused')
		)
		select family, user_id, state from shown`, hashOf(jti))
}

// RefreshState tells what a refresh token is worth and changes nothing: one
// that was copied is only said to be used.
func (v *Vault) RefreshState(ctx context.Context, jti string) (domain.Rotation, error) {
	return v.showRefresh(ctx, "look at", `
		with shown as (`+showToken+`)
		select family, user_id, case state when 'reused' then 'used' else state end from shown`, hashOf(jti))
}

func (v *Vault) showRefresh(ctx context.Context, what, sql string, args ...any) (domain.Rotation, error) {
	var r domain.Rotation
	err := v.pool.QueryRow(ctx, sql, args...).Scan(&r.Family, &r.User, &r.State)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Rotation{State: domain.TokenUnknown}, nil
	}
	if err != nil {
		return domain.Rotation{}, fmt.Errorf("%s a refresh token: %w", what, eventstore.Unavailable(err))
	}
	return r, nil
}

// hashOf is what is kept of a secret that only its holder may know. The
// secrets are random, so a plain hash cannot be guessed back.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
