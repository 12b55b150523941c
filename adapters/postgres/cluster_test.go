//go:build unix

package postgres

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const (
	makePayments  = "create table payments (n int)"
	twoPayments   = "insert into payments values (1), (2)"
	countPayments = "select count(*)::text from payments"
)

func TestTheFirstStartMakesAClusterThatTheNextOneFinds(t *testing.T) {
	dir := dataDir(t)
	c := start(t, Options{Dir: dir, Serve: true, Settings: map[string]string{"max_connections": "42"}})
	run(t, c.URL(), makePayments)
	run(t, c.URL(), twoPayments)
	for setting, want := range map[string]string{
		"server_encoding": "UTF8", "timezone": "UTC", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
		"listen_addresses": "", "max_connections": "42", "password_encryption": "scram-sha-256",
	} {
		expect(t, c.URL(), "select current_setting('"+setting+"')", want)
	}
	must(t, c.Stop())
	if !c.server.gone() || isThere(c.home.serveLock()) {
		t.Error("something is left after Stop")
	}
	must(t, c.Stop())
	expect(t, start(t, Options{Dir: dir, Serve: true}).URL(), countPayments, "2")
}

func TestThePasswordIsAskedForAndKeptPrivate(t *testing.T) {
	c := start(t, Options{Dir: dataDir(t)})
	info, err := os.Stat(filepath.Join(c.home.dir, "postgres.password"))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file has the mode %v", info.Mode())
	}
	u, err := url.Parse(c.URL())
	must(t, err)
	u.User = url.UserPassword("hostpanel", "guess")
	if _, err := pgx.Connect(t.Context(), u.String()); sqlState(err) != wrongPassword {
		t.Errorf("a guessed password is answered with %v", err)
	}
	must(t, c.Stop())
	must(t, os.Remove(c.home.passwordFile()))
	refused(t, Options{Dir: c.home.dir}, os.ErrNotExist, "postgres.password")
}

func TestACommandMakesNoCluster(t *testing.T) {
	dir := dataDir(t)
	for _, missing := range []string{dir, filepath.Join(dir, "mistyped")} {
		refused(t, Options{Dir: missing, Existing: true}, ErrNoCluster)
	}
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	expect(t, start(t, Options{Dir: madeDir(t), Existing: true}).URL(), "select '1'", "1")
}

func TestAClusterWithALongPathIsServedOnLoopback(t *testing.T) {
	dir := filepath.Join(dataDir(t), strings.Repeat("long", 25))
	c := start(t, Options{Dir: dir, Volatile: true})
	before := c.URL()
	if !strings.Contains(before, "@127.0.0.1:") {
		t.Errorf("it is served at %s", before)
	}
	expect(t, before, "select current_setting('listen_addresses')", "127.0.0.1")
	expect(t, before, "select current_setting('unix_socket_directories')", "")
	must(t, c.Crash(t.Context()))
	if c.URL() != before {
		t.Errorf("after a crash it is served at %s", c.URL())
	}
	must(t, c.Stop())
	if isThere(c.home.data()) {
		t.Error("a volatile cluster is still there after its end")
	}
}

func TestMessagesTellOfTheServerAndNeverOfData(t *testing.T) {
	var log bytes.Buffer
	c := start(t, Options{Volatile: true, Log: &log})
	conn, err := pgx.Connect(t.Context(), c.URL())
	must(t, err)
	for _, sql := range []string{
		"create table people (email text primary key)", "insert into people values ('eva@example.com')",
		"insert into people values ('eva@example.com')", "select 'eva@example.com'::int",
	} {
		_, _ = conn.Exec(t.Context(), sql)
	}
	_ = conn.Close(t.Context())
	must(t, c.Stop())
	if said := log.String(); !strings.Contains(said, "ready to accept connections") || strings.Contains(said, "eva@") {
		t.Errorf("the server's messages are\n%s", said)
	}
}

func TestASettingThatTheServerRefusesIsExplained(t *testing.T) {
	refused(t, Options{Volatile: true, Settings: map[string]string{"shared_buffers": "plenty"}}, nil, "shared_buffers", "plenty")
}
