package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/eventstoretest"
)

// All but what is computed anew is in a backup. What comes back is the same, row by row,
// and read tables are the same as before.
func TestABackupComesBackAsItWas(t *testing.T) {
	p, url := demoForCommands(t)
	seal(t, p)
	dir := t.TempDir()
	folder, file := filepath.Join(dir, "backup"), filepath.Join(dir, "backup.zip")
	m := madeBackup(t, folder)
	tells(t, "rows in", console.Done, "backup", "--out", file)
	tells(t, "exists already", console.Failed, "backup", "--out", file)
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must(t, err)
	for _, name := range append(names, file) {
		info, err := os.Stat(name)
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", name, info.Mode())
		}
		if text := contentOf(t, name); bytes.Contains(text, []byte("admin@localhost")) {
			t.Errorf("%s has a personal text in clear", name)
		}
	}
	inEveryPlace(t, url, m)

	before := rowsOf(t, url)
	for _, from := range []string{folder, file} {
		empty := eventstoretest.Database(t, "empty", nil)
		t.Setenv("DATABASE_URL", empty)
		tells(t, "recovery mode", console.Done, "restore", "--without-erasures", "--from", from)
		tells(t, "intact", console.Done, "verify")
		after := rowsOf(t, empty)
		for name, rows := range before {
			if !slices.Contains(moves, name) && after[name] != rows {
				t.Errorf("%s: %s instead of %s", name, after[name], rows)
			}
		}
		tells(t, "is not empty", console.Failed, "restore", "--without-erasures", "--from", from)
	}
	if code, out, _ := told(t, "recovery", "status", "--json"); code != console.Done ||
		!strings.Contains(out, `"on": true`) {
		t.Errorf("%d: %s", code, out)
	}
}

// moves are the tables that a restore changes.
var moves = []string{
	"events", "incidents", "readers", "log_origins", "log_verification", "log_index", "recovery", "saga_run",
	"payment_watch", "secret_keys", "projections", "schema_migrations",
	"notifications", "saga_queue", "rate_windows", "snapshots",
}

// inEveryPlace asks of every table that it is in the backup, or computed anew.
func inEveryPlace(t *testing.T, url string, m backup.Manifest) {
	t.Helper()
	var missing []string
	saved := []string{
		"public.log_index", "public.rate_windows", "public.snapshots", "public.projections",
		"public.schema_migrations",
	}
	for _, f := range m.Files {
		saved = append(saved, f.Schema+"."+f.Table)
	}
	err := eventstoretest.Owner(t, url).QueryRow(t.Context(), `
		select coalesce(array_agg(n.nspname || '.' || c.relname), '{}') from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)' and n.nspname || '.' || c.relname <> all($1)
			and c.relname <> all(array(select unnest(tables) from projections))`, saved).Scan(&missing)
	if err != nil || len(missing) > 0 {
		t.Errorf("not in the backup: %v, %v", missing, err)
	}
}

// rowsOf tells the rows of every table in a form that can be compared.
func rowsOf(t *testing.T, url string) map[string]string {
	t.Helper()
	owner, all := eventstoretest.Owner(t, url), map[string]string{}
	rows, err := owner.Query(t.Context(), `select n.nspname || '.' || quote_ident(c.relname), c.relname from pg_class
		c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and n.nspname !~ '^(pg_|information_schema)'`)
	must(t, err)
	names := map[string]string{}
	for rows.Next() {
		var full, name string
		must(t, rows.Scan(&full, &name))
		names[name] = full
	}
	must(t, rows.Err())
	for name, full := range names {
		var sum string
		must(t, owner.QueryRow(t.Context(),
			`select count(*) || ' ' || coalesce(md5(string_agg(r, '|' order by r)), '') from (select t::text as r from `+full+` t) x`).Scan(&sum))
		all[name] = sum
	}
	return all
}

func seal(t *testing.T, p *program.Program) {
	t.Helper()
	_, err := p.Sealer.Seal(t.Context())
	must(t, err)
}

// madeBackup makes one, and reads its manifest.
func madeBackup(t *testing.T, path string) (m backup.Manifest) {
	t.Helper()
	code, out, complaint := told(t, "backup", "--out", path, "--json", "--data-dir", t.TempDir())
	if code != console.Done {
		t.Fatalf("backup ends with %d: %s%s", code, out, complaint)
	}
	must(t, json.Unmarshal([]byte(out), &m))
	return m
}

// contentOf is a file of a backup, unpacked.
func contentOf(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	must(t, err)
	switch filepath.Ext(name) {
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(raw))
		must(t, err)
		raw, err = io.ReadAll(z)
		must(t, err)
	case ".zip":
		_, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		must(t, err)
	}
	return raw
}

// A backup that does not fit is refused, and nothing is left in the database.
func TestADamagedOrForeignBackupLeavesNothing(t *testing.T) {
	p, _ := demoForCommands(t)
	seal(t, p)
	whole := filepath.Join(t.TempDir(), "backup")
	m := madeBackup(t, whole)
	empty := eventstoretest.Database(t, "empty", nil)
	t.Setenv("DATABASE_URL", empty)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	refused := func(want string, code int, change func(dir string), flags ...string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "copy")
		must(t, os.CopyFS(dir, os.DirFS(whole)))
		change(dir)
		tells(t, want, code, "restore", append([]string{"--without-erasures", "--from", dir}, flags...)...)
		var left int
		must(t, eventstoretest.Owner(t, empty).QueryRow(t.Context(),
			`select count(*) from pg_class where relnamespace = 'public'::regnamespace`).Scan(&left))
		if left != 0 {
			t.Errorf("%s: %d tables and indexes are left", want, left)
		}
	}
	changed := func(name string, by func([]byte) []byte) func(string) {
		return func(dir string) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			must(t, err)
			must(t, os.WriteFile(filepath.Join(dir, name), by(text), 0o600))
		}
	}
	gone := func(name string) func(string) {
		return func(dir string) { must(t, os.Remove(filepath.Join(dir, name))) }
	}
	flip := func(text []byte) []byte { text[chance.IntN(len(text))] ^= byte(1 + chance.IntN(255)); return text }
	cut := func(text []byte) []byte { return text[:chance.IntN(len(text))] }
	for _, f := range m.Files {
		for _, damage := range []func(string){changed(f.Name, flip), changed(f.Name, cut), gone(f.Name)} {
			dir := filepath.Join(t.TempDir(), "copy")
			must(t, os.CopyFS(dir, os.DirFS(whole)))
			damage(dir)
			b, err := backup.Open(dir)
			must(t, err)
			if err := b.Check(t.Context(), p.Keys, func(int64, int64) {}); err == nil ||
				!strings.Contains(err.Error(), "damaged: "+f.Name) {
				t.Errorf("%s is damaged, and the backup is answered with %v", f.Name, err)
			}
			must(t, b.Close())
		}
	}
	one := m.Files[chance.IntN(len(m.Files))].Name
	refused("damaged: "+one, console.Failed, changed(one, flip))
	refused("damaged: "+one, console.Failed, gone(one))
	refused("damaged: manifest.json", console.Failed, changed("manifest.json", flip))
	refused("it is no whole backup", console.Failed, gone("manifest.json"))
	refused("newer than this program", console.Failed, changed("manifest.json", func(text []byte) []byte {
		return bytes.Replace(text, []byte(`"format": 1`), []byte(`"format": 2`), 1)
	}))
	refused("not signed by the log in the backup", console.Usage, func(string) {}, "--checkpoint",
		filepath.Join(whole, "manifest.json"))
	t.Setenv("HOSTPANEL_SECRET_KEY", "b3RoZXIta2V5LW90aGVyLWtleS1vdGhlci1rZXktMDE=")
	refused("wrong secret key", console.Usage, func(string) {})
}
