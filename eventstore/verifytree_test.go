package eventstore_test

import (
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/tlog/tree"
)

// sealed adds what is new to the tree, and returns the checkpoint.
func (w watched) sealed() string {
	w.t.Helper()
	s := tree.NewSealer(w.Pool(), w.Keys(), func() string { return "panel.example/audit/log" }, "")
	if _, err := s.Seal(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	o, err := s.Current(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return o.Checkpoint
}

func (w watched) by(c eventstore.Check) eventstore.Verdict {
	w.t.Helper()
	v, err := w.Reader().VerifyBy(w.t.Context(), c)
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

// changes are what can be done to an event at $1 of a log with $2 events. Chained: its
// whole stream is computed anew, so that the chain fits again.
var changes = []struct {
	name, sql string
	chained   bool
	at        func(position, head int64) int64 // that is named; nil: the position
}{
	{name: "a byte of the data", sql: `update events set data = (replace(data::text, '}', ' }'))::json where position = $1`},
	{
		name: "a byte of the data, with its chain",
		sql:  `update events set data = (replace(data::text, '}', ' }'))::json where position = $1`, chained: true,
	},
	{name: "the meta", sql: `update events set meta = '{"request":"x"}' where position = $1`, chained: true},
	{name: "the stream", sql: `update events set stream = stream || 'x' where position = $1`},
	{name: "the version", sql: `update events set version = version + 1000 where position = $1`},
	{name: "the id", sql: `update events set id = gen_random_uuid() where position = $1`, chained: true},
	{name: "the name", sql: `update events set name = name || 'x' where position = $1`, chained: true},
	{name: "the schema", sql: `update events set schema = schema + 1 where position = $1`, chained: true},
	{name: "the tenant", sql: `update events set tenant = coalesce(tenant, 0) + 1 where position = $1`, chained: true},
	{name: "the actor", sql: `update events set actor = actor || '1' where position = $1`, chained: true},
	{name: "the correlation", sql: `update events set correlation = gen_random_uuid() where position = $1`, chained: true},
	{name: "the causation", sql: `update events set causation = causation || '1' where position = $1`, chained: true},
	{name: "the saga", sql: `update events set saga = saga || 'x' where position = $1`, chained: true},
	{name: "the hash", sql: `update events set hash = set_byte(hash, 31, (get_byte(hash, 31) + 1) % 256) where position = $1`},
	{name: "a shorter hash", sql: `update events set hash = substr(hash, 1, 31) where position = $1`},
	{name: "the time, within the order", sql: `update events e set recorded_at = e.recorded_at - interval '1 us' where position = $1`},
	{
		name: "the time, by years",
		sql:  `update events set recorded_at = recorded_at - interval '3 years' where position <= $1`,
		at:   func(int64, int64) int64 { return 1 },
	},
	{name: "the position", sql: `update events set position = position + 1000000 where position = $1`},
	{name: "deleted", sql: `delete from events where position = $1`},
	{name: "deleted, and closed up", sql: `delete from events where position = $1;
		update events set position = -position + 1 where position > $1; update events set position = -position
			where position < 0`, chained: true},
	{name: "inserted", sql: `update events set position = -position - 1 where position >= $1; update events
		set position = -position where position < 0;
		insert into events select $1, stream || '-more', 1, gen_random_uuid(), name, schema, tenant, actor, correlation,
			causation, saga, data, meta, recorded_at, hash
		from events where position = $1 + 1`, chained: true},
	{name: "exchanged with the next one", sql: `update events set position = -position where position in ($1,
		$1 + 1); update events set position = 2 * $1 + 1 + position where position < 0`},
	{name: "cut off behind it", sql: `delete from events where position >= $1`},
}

// change changes the log as only its owner can.
func (w watched) change(sql string, position int64) {
	w.t.Helper()
	w.forge(strings.ReplaceAll(sql, "$1", fmt.Sprint(position)))
}

// chainAnew computes the hashes of all streams anew, and their versions.
func (w watched) chainAnew() {
	w.t.Helper()
	w.forge(`
		update events e set version = -n.nth from (select position, row_number() over (partition by stream
			order by position) nth from events) n where n.position = e.position;
		update events set version = -version`)
	hashes, err := w.Reader().ChainAnew(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	var forged strings.Builder
	for position, hash := range hashes {
		fmt.Fprintf(&forged, "update events set hash = '\\x%x' where position = %d;", hash, position)
	}
	w.forge(strings.TrimSuffix(forged.String(), ";"))
}

// forgeTree makes a tree of the changed log, with the name and the key that the log had.
func (w watched) forgeTree() {
	w.t.Helper()
	w.sql(`insert into log_origins (number, origin, vkey, key_id, nonce, sealed) select number, origin, vkey, key_id,
		nonce, sealed from kept_origins`)
	s := tree.NewSealer(w.Pool(), w.Keys(), func() string { return "panel.example/audit/log" }, "")
	_, _ = s.Seal(w.t.Context()) // some of the logs cannot be sealed
}

func TestAChangedTreeIsFoundAndTheEventsAreNotBlamed(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	for i := range 300 {
		do(t, w.Store, putIn{"a", 1 + i})
	}
	outside := w.sealed()
	w.sql(`create table kept_tiles as select * from log_tiles; create table kept_origins as select * from log_origins`)
	for _, c := range []struct {
		sql      string
		from, to int64
		reason   string
	}{
		{
			`update log_tiles set hashes = set_byte(hashes, 32 * 4, get_byte(hashes, 32 * 4) # 1) where level = 0 and number = 0`,
			5, 5, "tile",
		},
		{
			`update log_tiles set hashes = set_byte(hashes, 32 * 4, get_byte(hashes, 32 * 4) # 1) where level = 0 and number = 1`,
			261, 261, "tile",
		},
		{`update log_tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1) where level = 1`, 1, 256, "tile"},
		{`delete from log_tiles where level = 0 and number = 1`, 257, 257, "tile"},
		{`update log_origins set checkpoint = replace(checkpoint, '310', '309')`, 1, 310, "not as it was signed"},
		{`update log_origins set checkpoint = ''`, 1, 310, "tile"},
		{`update log_origins set vkey = 'panel.example/audit/log+00000000+AXJ1c3Q='`, 1, 310, "not"},
		{`update log_origins set origin = 'another.example'`, 1, 310, "not"},
	} {
		w.sql(c.sql)
		v := w.by(eventstore.Check{Checkpoint: outside})
		if strings.Contains(c.sql, "checkpoint = ''") {
			if !v.Intact || v.Sealed != 0 { // the one kept outside still covers everything
				t.Errorf("%s: %+v", c.sql, v)
			}
		} else if v.Intact || v.Broken != c.from || max(v.Through, v.Broken) != c.to || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s: %+v", c.sql, v)
		}
		w.sql(
			`truncate log_tiles, log_witnesses, log_origins; insert into log_origins select * from kept_origins;
				insert into log_tiles select * from kept_tiles`,
		)
	}
}

func TestACheckSaysWhatItCouldNotCover(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	uncovered := func(c eventstore.Check, want ...string) eventstore.Verdict {
		t.Helper()
		v := w.by(c)
		if len(v.Uncovered) != len(want) || !v.Intact {
			t.Errorf("%+v, want %q", v, want)
		}
		for i := range min(len(want), len(v.Uncovered)) {
			if !strings.Contains(v.Uncovered[i], want[i]) {
				t.Errorf("%q, want %q", v.Uncovered[i], want[i])
			}
		}
		return v
	}
	uncovered(eventstore.Check{}, "nothing is sealed", "no checkpoint from outside")
	outside := w.sealed()
	uncovered(eventstore.Check{}, "no checkpoint from outside")
	uncovered(eventstore.Check{Checkpoint: outside})
	do(t, w.Store, putIn{"1", 5}, putIn{"1", 6})
	uncovered(eventstore.Check{Checkpoint: outside}, "events 11 to 12 are not sealed")
	if v := uncovered(eventstore.Check{Checkpoint: outside, Stream: tillStream("1")}, "events 11 to 12", "other streams"); v.Checked != 7 {
		t.Errorf("%+v", v)
	}
	w.sealed()
	if v := uncovered(eventstore.Check{Checkpoint: outside, OnlyNew: true}, "events 1 to 10 were verified before"); v.Checked != 2 {
		t.Errorf("%+v", v)
	}
	if v := uncovered(
		eventstore.Check{OnlyNew: true}, "no checkpoint from outside", "events 1 to 12 were verified before",
	); v.Checked != 0 {
		t.Errorf("%+v", v)
	}
}

// What was verified is not read again, but the tree of today must begin with the one of
// then, and new events must fit both.
func TestNewEventsAreVerifiedAfterThoseThatWere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql    string
		broken int64
	}{
		{`update events set recorded_at = recorded_at - interval '1 us' where position = 14`, 14},
		{`delete from events where position > 15`, 16},
		{`delete from events where position > 8`, 9},
		{`update events set data = '{}' where position = 12`, 12},
		{`update events set data = '{}' where position = 3`, 0}, // which only a check of the whole log finds
		{`update log_tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1)`, 1},
	} {
		w := newWatched(t)
		w.sealed()
		if v := w.by(eventstore.Check{OnlyNew: true}); !v.Intact || v.Checked != 10 || !strings.Contains(
			v.Uncovered[0], "not verified before",
		) {
			t.Fatalf("%+v", v)
		}
		for i := range 10 {
			do(t, w.Store, putIn{"1", 1 + i})
		}
		w.sealed()
		w.forge(c.sql)
		if v := w.by(eventstore.Check{OnlyNew: true}); v.Broken != c.broken {
			t.Errorf("%s: %+v", c.sql, v)
		}
	}
}

func TestOneStreamIsVerifiedWithTheTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql    string
		broken int64
	}{
		{`update events set recorded_at = recorded_at - interval '1 us' where position = 4`, 4},
		{`update events set data = '{}' where position = 6`, 6},
		{`update events set data = '{}' where position = 5`, 0}, // of another stream
		{`update log_tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1)`, 1},
	} {
		w := newWatched(t)
		outside := w.sealed()
		stream := domain.StreamNamed("till-1")
		if v := w.by(eventstore.Check{Checkpoint: outside, Stream: stream}); !v.Intact || v.Checked != 5 {
			t.Fatalf("%+v", v)
		}
		w.forge(c.sql)
		if v := w.by(eventstore.Check{Checkpoint: outside, Stream: stream}); v.Broken != c.broken {
			t.Errorf("%s: %+v", c.sql, v)
		}
	}
}

// The check in the background compares events with the tree as well.
func TestTheBackgroundCheckComparesTimesAndTheEndWithTheTree(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql    string
		broken int64
	}{
		{`update events set recorded_at = recorded_at - interval '1 us' where position = 6`, 6},
		{`delete from events where position > 8`, 9},
		{`update log_tiles set hashes = set_byte(hashes, 0, get_byte(hashes, 0) # 1)`, 1},
		{`update log_origins set checkpoint = replace(checkpoint, '10', '11')`, 1},
	} {
		w := newWatched(t)
		w.sealed()
		w.equal(w.round(), []eventstore.Broken{})
		w.forge(c.sql)
		found := append(w.round(), w.round()...)
		if len(found) == 0 || found[0].Position != c.broken && (len(found) < 2 || found[1].Position != c.broken) {
			t.Errorf("%s: %+v", c.sql, found)
		}
	}
}
