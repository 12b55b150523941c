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

// IssueRefresh stores the first refresh token of a sign-in, which starts a family.
// Only the hash of the token's id (jti) is stored.
func (v *Vault) IssueRefresh(ctx context.Context, jti string, family uuid.UUID, user int64, version int, until time.Time) error {
	_, err := v.pool.Exec(ctx, `
		with began as (insert into refresh_families (family, user_id, expires_at, version) values ($2, $3, $4, $5))
		insert into refresh_tokens (hash, family, expires_at) values ($1, $2, $4)`, hashOf(jti), family, user, until, version)
	if err != nil {
		return fmt.Errorf("issue a refresh token: %w", eventstore.Unavailable(err))
	}
	return nil
}

// showToken reads and locks a token ($1) and its family, so that simultaneous
// uses run one after the other. A second use within ten seconds is permitted,
// because a client may refresh twice at once.
const showToken = `
	select t.hash, f.family, f.user_id, case
		when f.revoked_at is not null then 'used'
		when t.used_at is null then 'fresh'
		when t.used_at > real_now() - interval '10 seconds' then 'used'
		else 'reused' end state
	from refresh_tokens t join refresh_families f using (family)
	where t.hash = $1 and t.expires_at > real_now()`

// revokeReused ends the family of a token that was used again: it was copied.
const revokeReused = `update refresh_families f set revoked_at = real_now() from shown where f.family = shown.family
	and shown.state = 'reused'`

// RotateRefresh replaces a refresh token by a new one of its family. The new one
// is issued only if the old one is [domain.TokenFresh].
func (v *Vault) RotateRefresh(ctx context.Context, old, fresh string, until time.Time) (domain.Rotation, error) {
	return v.showRefresh(ctx, "rotate", `
		with shown as (`+showToken+` for update), revoked as (`+revokeReused+`), used as (
			update refresh_tokens t set used_at = real_now() from shown where t.hash = shown.hash and shown.state = 'fresh'
		), kept as (
			update refresh_families f set expires_at = greatest(f.expires_at, $3), seen_at = real_now() from shown
				where f.family = shown.family and shown.state = 'fresh'
		), issued as (
			insert into refresh_tokens (hash, family, expires_at) select $2, family, $3 from shown where state = 'fresh'
		)
		select family, user_id, state from shown`, hashOf(old), hashOf(fresh), until)
}

// RevokeRefresh ends a refresh token and its family, if the token is
// [domain.TokenFresh].
func (v *Vault) RevokeRefresh(ctx context.Context, jti string) (domain.Rotation, error) {
	return v.showRefresh(ctx, "revoke", `
		with shown as (`+showToken+` for update), revoked as (
			update refresh_families f set revoked_at = real_now() from shown where f.family = shown.family
				and shown.state in ('fresh', 'reused')
		)
		select family, user_id, state from shown`, hashOf(jti))
}

// RefreshState returns the state of a refresh token without a change. A reused
// token is reported as used.
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

// hashOf is the stored hash of a random secret. A plain SHA-256 is enough, because
// random secrets cannot be guessed.
func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}
