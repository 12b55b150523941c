package tree_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
)

// A logged database has events that were made up: only their times and hashes count.
type logged struct {
	t     *testing.T
	url   string
	owner *pgxpool.Pool
	keys  *sealing.Keyring
}

func newLogged(t *testing.T, events int64) logged {
	t.Helper()
	l := logged{t, eventstoretest.URL(t), nil, eventstoretest.Keys(t)}
	l.owner = eventstoretest.Owner(t, l.url)
	l.add(events)
	return l
}

func (l logged) add(events int64) {
	l.t.Helper()
	l.sql(`
		insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data, meta, recorded_at, hash)
		select at, 'made-' || at, 1, gen_random_uuid(), 'till.opened', 1, 'system:test', gen_random_uuid(), 'request:x', '', '{}', '{}',
			timestamptz '2026-01-01' + at * interval '7 us', sha256(convert_to(at::text, 'UTF8'))
		from (select coalesce(max(position), 0) as head from events) e, generate_series(head + 1, head + $1::bigint) at`, events)
}

func (l logged) sql(sql string, args ...any) {
	l.t.Helper()
	if _, err := l.owner.Exec(l.t.Context(), sql, args...); err != nil {
		l.t.Fatal(err)
	}
}

// forge changes the log as only its owner can.
func (l logged) forge(sql string) {
	l.t.Helper()
	l.sql(`alter table events disable trigger user; ` + sql + `; alter table events enable trigger user`)
}

// process is one that may seal.
func (l logged) process() *tree.Sealer {
	return tree.NewSealer(eventstoretest.Pool(l.t, l.url), l.keys, func() string { return "panel.example/audit/log" }, "")
}

// sealAll seals until nothing is left.
func sealAll(t testing.TB, s *tree.Sealer) (total int) {
	t.Helper()
	for {
		n, err := s.Seal(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return total
		}
		total += n
	}
}

func (l logged) current(s *tree.Sealer) tree.Origin {
	l.t.Helper()
	o, err := s.Current(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	return o
}

// whole proves that the tree covers the events, by an event of each part.
func (l logged) whole(s *tree.Sealer, size int64) {
	l.t.Helper()
	o := l.current(s)
	c, err := o.Signed()
	if err != nil || c.Size != size {
		l.t.Fatalf("%+v, %v", c, err)
	}
	edge := &tlog.Edge{}
	rows, _ := l.owner.Query(l.t.Context(), `select recorded_at, hash from events where position <= $1 order by position`, size)
	for rows.Next() {
		var at time.Time
		var hash []byte
		if err := rows.Scan(&at, &hash); err != nil {
			l.t.Fatal(err)
		}
		leaf, _ := tlog.LeafOf(at, hash)
		edge.Add(leaf.Hash())
	}
	if root, err := edge.Root(); err != nil || root != c.Root {
		l.t.Errorf("the root of %d events is %s, sealed as %s, %v", size, root, c.Root, err)
	}
	policy, err := tlog.LogPolicy(o.VKey)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, position := range []int64{1, size/2 + 1, size} {
		proof, err := s.Proof(l.t.Context(), position)
		if err != nil {
			l.t.Fatal(err)
		}
		var at time.Time
		var hash []byte
		if err := l.owner.QueryRow(l.t.Context(), `select recorded_at, hash from events where position = $1`, position).
			Scan(&at, &hash); err != nil {
			l.t.Fatal(err)
		}
		leaf, _ := tlog.LeafOf(at, hash)
		if _, err := proof.Check(leaf, policy); err != nil {
			l.t.Errorf("event %d of %d: %v", position, size, err)
		}
	}
}

// A process is killed between the tiles and the checkpoint, and behind the checkpoint
// before the commit. Nothing of its seal stays, and another process seals the same.
func TestASealIsWholeOrDidNotHappen(t *testing.T) {
	t.Parallel()
	for _, stop := range []string{"tiles", "checkpoint"} {
		l := newLogged(t, 300)
		s := l.process()
		sealAll(t, s)
		before := l.current(s)
		l.add(300)
		s.OnStage(func(stage string) {
			if stage == stop {
				l.sql(`select pg_terminate_backend(pid, 10000) from pg_locks where locktype = 'advisory'
					and database = (select oid from pg_database where datname = current_database())`)
			}
		})
		if n, err := s.Seal(t.Context()); err == nil || n != 0 {
			t.Fatalf("%d events are sealed behind a lost connection, %v", n, err)
		}
		if after := l.current(s); after.Checkpoint != before.Checkpoint {
			t.Errorf("killed behind the %s: the checkpoint is %s", stop, after.Checkpoint)
		}
		if _, err := s.Tile(t.Context(), tlog.TilePath{TileID: tlog.TileID{Number: 2}, Width: 1}); !errors.Is(err, tree.ErrNoTile) {
			t.Errorf("a tile of a seal that did not happen is shown: %v", err)
		}
		if n := sealAll(t, l.process()); n != 300 {
			t.Errorf("%d events are sealed after it", n)
		}
		l.whole(s, 600)
	}
}

func TestTwoProcessesNeverSealTheSameEvents(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 0)
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for range 4 {
		s := l.process()
		wg.Go(func() {
			for ctx.Err() == nil {
				n, err := s.Seal(ctx)
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
				mu.Lock()
				if total += n; total >= 2000 {
					stop()
				}
				mu.Unlock()
			}
		})
	}
	for range 20 {
		l.add(100)
	}
	wg.Wait()
	if total != 2000 {
		t.Errorf("%d events of 2000 are sealed", total)
	}
	l.whole(l.process(), 2000)
}

// An operator begins a new origin while a process seals for the old one: the seal is
// dropped.
func TestACheckpointIsReplacedOnlyByItsOwnSuccessor(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 10)
	s := l.process()
	sealAll(t, s)
	l.add(10)
	s.OnStage(func(stage string) {
		if stage == "tiles" {
			l.sql(`insert into log_origins (number, origin, vkey, key_id, nonce, sealed) values (2, 'other', '', 'x', '', '')`)
		}
	})
	if _, err := s.Seal(t.Context()); err == nil || !strings.Contains(err.Error(), "changed by another process") {
		t.Errorf("%v", err)
	}
	l.sql(`delete from log_origins where number = 2`)
	s.OnStage(func(string) {})
	if n := sealAll(t, s); n != 10 {
		t.Errorf("%d events are sealed", n)
	}
	l.whole(s, 20)
}

func TestWhatWasSealedMustStillBeThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		forge string
		add   int64
		want  error
	}{
		{`delete from events where position = 300`, 0, tree.ErrShorter},
		{`delete from events where position > 290; insert into events
			select position + 100, stream || '-anew', version, id, name, schema, tenant, actor, correlation, causation,
				saga, data, meta, recorded_at, hash
			from events where position between 191 and 230`, 0, tree.ErrChanged},
		{`update events set recorded_at = recorded_at + interval '1 us' where position = 300`, 1, tree.ErrChanged},
		{`update events set position = 302 where position = 300`, 0, tree.ErrShorter},
		{`insert into events select 303, 'x', version, id, name, schema, tenant, actor, correlation, causation, saga,
			data, meta, recorded_at, hash from events where position = 1`, 0, tree.ErrGap},
		{`truncate log_tiles`, 1, tlog.ErrTile},
		{`update log_tiles set hashes = substr(hashes, 1, 32)`, 1, tlog.ErrTile},
	} {
		l := newLogged(t, 300)
		s := l.process()
		sealAll(t, s)
		before := l.current(s).Checkpoint
		l.forge(c.forge)
		if c.add > 0 {
			l.add(c.add)
		}
		if n, err := s.Seal(t.Context()); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d events are sealed, %v", c.forge, n, err)
		}
		if l.current(s).Checkpoint != before {
			t.Errorf("%s: the checkpoint has changed", c.forge)
		}
	}
}

func TestTilesAndEntriesAreShownUpToTheCheckpoint(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 300)
	s := l.process()
	if _, err := s.Tile(t.Context(), tlog.TilePath{Width: 1}); !errors.Is(err, tree.ErrNone) {
		t.Errorf("before the first seal: %v", err)
	}
	sealAll(t, s)
	l.add(10)
	for path, want := range map[string]int{
		"0/000": 256 * 32, "0/001.p/44": 44 * 32, "0/001.p/7": 7 * 32, "1/000.p/1": 32, "entries/000": 256 * 42,
		"entries/001.p/44": 44 * 42,
		"0/001":            0, "0/001.p/45": 0, "entries/001.p/45": 0, "1/000.p/2": 0, "2/000.p/1": 0, "0/002.p/1": 0,
		"0/x999/999/999/999/000": 0,
	} {
		p, err := tlog.ParseTilePath(path)
		if err != nil {
			continue
		}
		data, err := s.Tile(t.Context(), p)
		if len(data) != want || want == 0 != errors.Is(err, tree.ErrNoTile) {
			t.Errorf("%s has %d bytes, %v", path, len(data), err)
		}
	}
	l.forge(`delete from events where position = 20`)
	path := tlog.TilePath{TileID: tlog.TileID{Level: tlog.EntriesLevel}, Width: 256}
	if _, err := s.Tile(t.Context(), path); !errors.Is(err, tree.ErrNoTile) {
		t.Errorf("a bundle without one of its events: %v", err)
	}
}

// How much is not sealed is asked several times a second.
func TestTheLagIsReadByTheIndex(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	l := newLogged(t, 4000)
	sealAll(t, l.process())
	l.add(5)
	l.sql(`analyze events`)
	eventstoretest.ReadsAtMost(t, eventstoretest.Pool(t, l.url), "events", 2, func(tx pgx.Tx) error {
		lag, err := tree.In(tx).Lag(t.Context())
		if lag.Events != 5 || lag.Since == nil {
			t.Errorf("%+v", lag)
		}
		return err
	})
}
