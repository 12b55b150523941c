package credentials

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// signIns are those of a user ($1) that go on under a session version ($2).
func (v *Vault) signIns() string {
	return `
		select id, true as is_browser, started_at, seen_at from browser_sessions where user_id = $1 and version = $2
			and ` + v.sessionLives() + `
		union all
		select family, false, started_at, seen_at from refresh_families where user_id = $1 and version = $2
			and revoked_at is null and expires_at > real_now()`
}

// SignIns are the browsers and programs in which a user has signed in, the one that was
// used last first, and how many there are in all.
func (v *Vault) SignIns(ctx context.Context, user int64, version int, offset, limit int64) (all []domain.SignIn, count int64, err error) {
	b := &pgx.Batch{}
	b.Queue(`select count(*) from (`+v.signIns()+`) s`, user, version).QueryRow(func(r pgx.Row) error { return r.Scan(&count) })
	b.Queue(v.signIns()+
		` order by seen_at desc, id offset $3 limit $4`, user, version, offset, limit).Query(func(rows pgx.Rows) (err error) {
		all, err = pgx.CollectRows(rows, pgx.RowToStructByName[domain.SignIn])
		return err
	})
	if err := v.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, 0, fmt.Errorf("list sign-ins: %w", eventstore.Unavailable(err))
	}
	return all, count, nil
}

// CloseSignIn ends one of the user's sign-ins. It returns false if there is no such one.
func (v *Vault) CloseSignIn(ctx context.Context, user int64, version int, id uuid.UUID) (bool, error) {
	n, err := v.closeSignIns(ctx, `= $2`, user, version, id)
	return n > 0, err
}

// CloseOtherSignIns ends all of the user's sign-ins but one, and returns how many they were.
func (v *Vault) CloseOtherSignIns(ctx context.Context, user int64, version int, kept uuid.UUID) (int64, error) {
	return v.closeSignIns(ctx, `<> $2`, user, version, kept)
}

// closeSignIns deletes sessions and revokes families: a revoked one is kept, so that its
// tokens are recognised. Those of former versions have ended already and do not count.
func (v *Vault) closeSignIns(ctx context.Context, which string, user int64, version int, id uuid.UUID) (n int64, err error) {
	err = v.pool.QueryRow(ctx, `
		with browsers as (
			delete from browser_sessions where user_id = $1 and id `+which+` returning version
		), programs as (
			update refresh_families set revoked_at = real_now() where user_id = $1 and family `+which+`
				and revoked_at is null and expires_at > real_now() returning version
		)
		select count(*) from (select version from browsers union all select version from programs) ended where version = $3`, user,
		id, version).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("end sign-ins: %w", eventstore.Unavailable(err))
	}
	return n, nil
}
