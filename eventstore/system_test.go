//go:build system

package eventstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// The database crashes again and again while sixteen clients write. Each of
// them repeats its request under the same id until it is answered: in the end
// every request stands in the log exactly once, whether its commit, or only
// the answer to it, was lost.
func TestCrashesOfTheDatabaseLoseNothingAndRepeatNothing(t *testing.T) {
	cluster := eventstoretest.Private(t, nil)
	owner := eventstoretest.Owner(t, cluster.URL())
	if err := eventstore.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	owner.Close()
	s := storeOn(t, eventstoretest.Pool(t, cluster.URL()))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()

	const clients, crashes = 16, 3
	done := make(chan struct{})
	requests := make([]int, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				requests[client]++
				insist(ctx, t, s, putIn{fmt.Sprint(client % 8), 1}) // two clients share a stream
			}
		})
	}
	for range crashes {
		time.Sleep(300 * time.Millisecond) // let them write; any moment will do
		eventstoretest.Restart(t, cluster)
	}
	close(done)
	wg.Wait()

	want := 0
	for _, n := range requests {
		want += n
	}
	verdict, err := s.Reader().Verify(ctx, nil)
	if err != nil || !verdict.Intact || verdict.Checked != int64(want) {
		t.Errorf("%d requests were answered, the log: %+v, %v", want, verdict, err)
	}
	t.Logf("%d requests over %d crashes", want, crashes)
}

// A restart of the database loses no event for listeners.
func TestListenersOutliveTheDatabase(t *testing.T) {
	cluster := eventstoretest.Private(t, nil)
	owner := eventstoretest.Owner(t, cluster.URL())
	if err := eventstore.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	s := storeOn(t, eventstoretest.Pool(t, cluster.URL()))
	l := listen(t, tailOf(s), eventstore.Now, "a")
	do(t, s, putIn{"a", 1})
	mustHear(t, l, 1)
	eventstoretest.Restart(t, cluster)
	deadline := time.Now().Add(aMinute)
	for {
		if _, err := s.Execute(t.Context(), domain.Metadata{Actor: "test"}, putIn{"a", 2}); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	heard, _ := mustHear(t, l, 1)
	if heard[0].Event != (coinsPut{2}) {
		t.Errorf("%+v", heard)
	}
}

// Each change of the log is found and named, whether it was done by the owner of the
// database, who can compute chains of hashes anew, or by the holder of the keys, who
// makes a new tree as well. A checkpoint was kept outside before.
func TestEveryChangeOfTheLogIsFoundAndNamed(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWatched(t)
	for i := range 600 {
		do(t, w.Store, putIn{fmt.Sprint(random.IntN(20)), 1 + i})
	}
	outside := w.sealed()
	if v := w.by(eventstore.Check{Checkpoint: outside}); !v.Intact || v.Checked != 610 || v.Sealed != 610 || len(v.Uncovered) != 0 {
		t.Fatalf("%+v", v)
	}
	w.sql(`create table kept as select * from events; create table kept_tiles as select *
		from log_tiles; create table kept_origins as select * from log_origins`)
	for _, c := range changes {
		position := 2 + random.Int64N(607)
		name := fmt.Sprintf("%s, at %d", c.name, position)
		w.change(c.sql, position)
		if c.chained {
			w.chainAnew()
		}
		want := position
		if c.at != nil {
			want = c.at(position, 610)
		}
		for _, check := range []eventstore.Check{{}, {Checkpoint: outside}} {
			if v := w.by(check); v.Intact || v.Broken != want || v.Through > v.Broken || v.Reason == "" {
				t.Errorf("%s (checkpoint outside: %t): %+v, want %d", name, check.Checkpoint != "", v, want)
			}
		}
		w.sql(`truncate log_tiles, log_witnesses, log_origins`) // the holder of the keys begins anew
		w.forgeTree()
		if v := w.by(eventstore.Check{Checkpoint: outside}); v.Intact || v.Broken > want || max(v.Through, v.Broken) < want {
			t.Errorf("%s, with another tree: %+v, want %d", name, v, want)
		}
		w.forge(`delete from events; insert into events select * from kept; truncate log_tiles, log_witnesses, log_origins;
			insert into log_origins select * from kept_origins; insert into log_tiles select * from kept_tiles`)
	}
	if v := w.by(eventstore.Check{Checkpoint: outside}); !v.Intact {
		t.Errorf("%+v", v)
	}
}

// Each event takes a second to handle, the database is 20 ms away, and four loops keep the
// machine busy. The reader takes longer for all events than Postgres lets a transaction be idle,
// and than a minute with make slow. It moves all the while, and begins nothing again.
func TestAReaderIsNeverStuckForBeingSlow(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	const streams = 40
	each := 3
	if os.Getenv("HOSTPANEL_SLOW_PACE") == "1" {
		each = 10
	}
	writer := storeOn(t, eventstoretest.Pool(t, url))
	for n := range streams {
		for range each {
			do(t, writer, putIn{fmt.Sprint(n), 1})
		}
	}
	pool := eventstoretest.Pool(t, eventstoretest.AtDistance(t, url, 20*time.Millisecond))
	s := storeOn(t, pool)
	over := make(chan struct{})
	defer close(over)
	for range 4 {
		go func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
			}
		}()
	}
	var handled atomic.Int64
	inLanes(t, s, "slow", nil, func(ctx context.Context, _ eventstore.RecordedEvent) error {
		handled.Add(1)
		select {
		case <-time.After(time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	var watch eventstore.ReaderWatch
	for began, last := time.Now(), int64(0); ; {
		stuck, err := watch.Look(t.Context(), pool)
		if err != nil || len(stuck) > 0 {
			t.Fatalf("after %s, %d of %d events: stuck are %v, %v", time.Since(began), handled.Load(), streams*each, stuck, err)
		}
		at, err := readerAt(t, s, "slow")
		if err != nil || at < last {
			t.Fatalf("the reader went from %d to %d, %v", last, at, err)
		}
		if last = at; at >= int64(streams*each) {
			t.Logf("%d events were handled in %s", streams*each, time.Since(began).Round(time.Second))
			break
		}
		time.Sleep(200 * time.Millisecond) // the pace of looks is what is tried
	}
	if n := handled.Load(); n != int64(streams*each) {
		t.Errorf("%d events were handled %d times", streams*each, n)
	}
}
