package eventstoretest

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// ownerRole owns the databases of tests. It is as ordinary as the role that a hoster gives
// the panel: no superuser, and policies bind it.
const ownerRole = "hostpanel_test_owner"

// ordinary makes the role on a server, and that of the program, unless they are there. It
// returns how the role signs in. A login that is no superuser owns the databases itself.
func ordinary(ctx context.Context, conn *pgx.Conn, login *url.Userinfo) (*url.Userinfo, error) {
	password, _ := login.Password()
	verifier, err := scram(password)
	if err != nil {
		return nil, err
	}
	owner := login
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		var all, there bool
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock("+lockOf+")", ownerRole); err != nil {
			return err
		}
		err := tx.QueryRow(ctx, `select rolsuper, exists (select from pg_roles where rolname = $1)
			from pg_roles where rolname = current_user`, ownerRole).Scan(&all, &there)
		if err != nil || !all {
			return err
		}
		owner = url.UserPassword(ownerRole, password)
		if there {
			return nil
		}
		_, err = tx.Exec(ctx, `create role `+ownerRole+` login password '`+verifier+`';
			do $$ begin
				if not exists (select from pg_roles where rolname = '`+eventstore.AppRole+`') then
					create role `+eventstore.AppRole+` nologin;
				end if;
			end $$;
			grant `+eventstore.AppRole+` to `+ownerRole)
		return err
	})
	return owner, err
}

// Superuser connects to the database of a pool as a superuser, for what no owner may do.
func Superuser(t testing.TB, of *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	known, ours := lent.Load(of.Config().ConnString())
	if !ours {
		t.Fatal("the database was not lent to this test")
	}
	config, err := pgxpool.ParseConfig(known.(*database).admin)
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
