package eventstoretest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/postgres"
)

// Slow is the setting that puts the databases of tests at a distance: how long each
// question of a client takes on its way, such as 20ms. Postgres answers as fast as ever.
const Slow = "HOSTPANEL_SLOW_DATABASE"

// distance is read before a test changes the environment.
var distance, errDistance = distanceOf(os.Getenv(Slow))

func distanceOf(setting string) (time.Duration, error) {
	if setting == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(setting)
	if err != nil || d < 0 || d > time.Second {
		return 0, fmt.Errorf("%s=%q is no time up to 1s, such as 20ms", Slow, setting)
	}
	return d, nil
}

// IsDistant tells whether the databases of tests are at a distance.
func IsDistant() bool { return distance > 0 }

// Distant returns an address of a server at the distance of the setting, if there is one.
func Distant(t testing.TB, server string) string {
	t.Helper()
	return through(t, server, distance)
}

// AtDistance returns an address of a test's database that is at a distance also without the setting.
func AtDistance(t testing.TB, database string, delay time.Duration) string {
	t.Helper()
	if IsDistant() {
		return database
	}
	return through(t, database, delay)
}

func through(t testing.TB, server string, delay time.Duration) string {
	t.Helper()
	away, end, err := distant(server, delay)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return away
}

func distant(server string, delay time.Duration) (away string, end func(), err error) {
	if errDistance != nil || delay == 0 {
		return server, func() {}, errDistance
	}
	c, end, err := cutterBefore(server, "", delay)
	if err != nil {
		return "", nil, err
	}
	return c.URL(), end, nil
}

// Ordinary is an empty database in a cluster, for an owner without superuser.
func Ordinary(t testing.TB, c *postgres.Cluster) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing was left open
	address, err := url.Parse(c.URL())
	if err != nil {
		t.Fatal(err)
	}
	s := server{way: *address}
	if s.owner, err = ordinary(ctx, conn, address.User); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "create database ordinary owner "+quote(s.owner.Username())); err != nil {
		t.Fatal(err)
	}
	return s.url("ordinary")
}
