package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
			`select count(*) || ' ' || coalesce(md5(string_agg(r, '|' order by r)), '') from (select t::text as r from `+
				full+` t) x`).Scan(&sum))
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
