//go:build system

package program_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// A canary is a value that must not be found where it does not belong. Each is
// unlike any other text, so that to find it is to find that value.
type canary struct {
	name  string
	forms [][]byte // in which it could be written
}

// newCanary knows a value as it is, in hex, and in base64 wherever it may
// stand in what was encoded.
func newCanary(name, value string) canary {
	if len(value) < 8 {
		panic("too short to be told from chance: " + name)
	}
	c := canary{name: name, forms: [][]byte{[]byte(value), []byte(hex.EncodeToString([]byte(value)))}}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString(append(make([]byte, before), value...))
		whole := text[(before*8+5)/6 : (before+len(value))*8/6] // the characters that it alone decides
		c.forms = append(c.forms, []byte(whole))
		if url := strings.NewReplacer("+", "-", "/", "_").Replace(whole); url != whole {
			c.forms = append(c.forms, []byte(url))
		}
	}
	return c
}

func (c canary) isIn(text []byte) bool {
	return slices.ContainsFunc(c.forms, func(form []byte) bool { return bytes.Contains(text, form) })
}

// A sighting is where a canary was found. It does not say which text it was.
type sighting struct{ canary, place string }

// A flock is all canaries of one sort.
type flock []canary

func (f *flock) add(name, value string) { *f = append(*f, newCanary(name, value)) }

// seen tells which of them are in a text.
func (f flock) seen(place string, text []byte) (all []sighting) {
	for _, c := range f {
		if c.isIn(text) {
			all = append(all, sighting{c.name, place})
		}
	}
	return all
}

// inTables looks at every value of every table of a database, of any owner. A
// place is "schema.table.column".
func (f flock) inTables(t *testing.T, conn *pgx.Conn) []sighting {
	t.Helper()
	var all []sighting
	for _, table := range tablesOf(t, conn) {
		rows, err := conn.Query(t.Context(), "select * from "+table.Sanitize(), pgx.QueryResultFormats{pgx.TextFormatCode})
		if err != nil {
			t.Fatal(err)
		}
		columns := rows.FieldDescriptions()
		for rows.Next() {
			for n, value := range rows.RawValues() {
				place := strings.Join(append(slices.Clone(table), columns[n].Name), ".")
				all = append(all, f.seen(place, decoded16(value))...)
			}
		}
		if rows.Err() != nil {
			t.Fatal(rows.Err())
		}
	}
	return distinct(all)
}

// decoded16 is a value with what was written in hex, as bytea is, beside it.
func decoded16(value []byte) []byte {
	digits, is := bytes.CutPrefix(value, []byte(`\x`))
	if !is {
		return value
	}
	plain, err := hex.AppendDecode(nil, digits)
	if err != nil {
		return value
	}
	return slices.Concat(value, []byte{' '}, plain)
}

// tablesOf are all tables that are not Postgres' own.
func tablesOf(t *testing.T, conn *pgx.Conn) []pgx.Identifier {
	t.Helper()
	rows, err := conn.Query(t.Context(), `select table_schema, table_name from information_schema.tables
		where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema') order by 1, 2`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (pgx.Identifier, error) {
		var schema, name string
		err := row.Scan(&schema, &name)
		return pgx.Identifier{schema, name}, err
	})
	if err != nil || len(tables) < 20 {
		t.Fatalf("%d tables are not all there are: %v", len(tables), err)
	}
	return tables
}

// inFiles looks at every file below a folder. Those named are left out.
func (f flock) inFiles(t *testing.T, folder string, but ...string) []sighting {
	t.Helper()
	var all []sighting
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || slices.Contains(but, entry.Name()) {
			return ignoreGone(err)
		}
		text, err := os.ReadFile(path)
		if err == nil {
			all = append(all, f.seen("file "+strings.TrimPrefix(path, folder), text)...)
		}
		return ignoreGone(err)
	})
	if err != nil {
		t.Fatal(err)
	}
	return distinct(all)
}

// ignoreGone forgives what Postgres removed while we looked.
func ignoreGone(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

func distinct(all []sighting) []sighting {
	slices.SortFunc(all, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.place, b.place),
			cmp.Compare(a.canary, b.canary))
	})
	return slices.Compact(all)
}

// settled writes everything that the database knows to its files.
func settled(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "checkpoint"); err != nil {
		return fmt.Errorf("write everything out: %w", err)
	}
	return nil
}

// A search that finds nothing proves something only if it would have found.
func TestACanaryIsFoundInWhateverFormItIsWritten(t *testing.T) {
	const value = "cnry-8Zk?>q~secret"
	var f flock
	f.add("one", value)
	for _, text := range []string{
		"x" + value + "y", hex.EncodeToString([]byte("a" + value)),
		base64.StdEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte("a" + value + "bc")),
		base64.RawURLEncoding.EncodeToString([]byte("ab" + value + "c")), base64.URLEncoding.EncodeToString([]byte("abc" +
			value)),
	} {
		if len(f.seen("here", []byte(text))) != 1 {
			t.Errorf("not found in %q", text)
		}
	}
	if found := f.seen("here", []byte("cnry-8Zk?>q~secre7")); len(found) > 0 {
		t.Errorf("found something else: %v", found)
	}
}
