//go:build system

package backup_test

import (
	"path/filepath"
	"slices"
	"testing"

	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/eventstoretest"
)

// A backup that an earlier program has made is loaded as it was, and brought up to date in
// the same transaction.
func TestABackupOfAnEarlierSchemaIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	keys := eventstoretest.Keys(t)
	newest := migrated(t, eventstoretest.Owner(t, eventstoretest.URL(t)))
	for lacks := range 4 {
		url, level, _ := eventstoretest.Earlier(t, lacks)
		from := eventstoretest.Owner(t, url)
		if _, err := from.Exec(t.Context(), `
			insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data,
				meta, recorded_at, hash)
			select at, 'made-' || at, 1, gen_random_uuid(), 'till.opened', 1, 'system:test', gen_random_uuid(), 'request:x', '', '{}', '{}',
				timestamptz '2026-01-01', sha256(convert_to(at::text, 'UTF8')) from generate_series(1, 3) at`); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "backup")
		m, err := backup.Save(t.Context(), from, backup.Saving{Path: path, Keys: keys})
		if err != nil || m.Head.Position != 3 || !slices.Equal(m.Migrations, level) {
			t.Fatalf("without the last %d: %v, %+v", lacks, err, m)
		}
		into, err := load(t, path)
		if err != nil {
			t.Fatal(err)
		}
		var same bool
		err = into.QueryRow(t.Context(), `select array_agg(stream order by position) = '{made-1,made-2,made-3}' from events`).Scan(&same)
		if err != nil || !same {
			t.Errorf("without the last %d: the events are not those of the backup (%v)", lacks, err)
		}
		if now := migrated(t, into); !slices.Equal(now, newest) {
			t.Errorf("without the last %d: %v", lacks, now)
		}
	}
}
