package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

const aMinute = time.Minute

// tailOf is a feed of coins, with the stream of the till as topic.
func tailOf(s *eventstore.Store) *eventstore.Feed {
	return eventstore.NewFeed(s, func(in domain.Stream, _ domain.Event) domain.Stream { return in },
		[]domain.EventType{domain.Register[coinsPut](), domain.Register[coinsTaken]()})
}

func listen(t testing.TB, tail *eventstore.Feed, after int64, ids ...string) *eventstore.Listener {
	t.Helper()
	var topics []domain.Stream
	for _, id := range ids {
		topics = append(topics, tillStream(id))
	}
	l, err := tail.Listen(t.Context(), after, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// hear takes events until it has this many.
func hear(ctx context.Context, l *eventstore.Listener, facts int) (heard []domain.LiveEvent, at int64, err error) {
	deadline := time.NewTimer(aMinute)
	defer deadline.Stop()
	for len(heard) < facts {
		select {
		case <-l.Ready():
		case <-ctx.Done():
			return heard, at, ctx.Err()
		case <-deadline.C:
			return heard, at, fmt.Errorf("only %d of %d events have come", len(heard), facts)
		}
		next, until, err := l.Take(ctx)
		if err != nil {
			return heard, at, err
		}
		heard, at = append(heard, next...), until
	}
	return heard, at, nil
}

func mustHear(t testing.TB, l *eventstore.Listener, facts int) ([]domain.LiveEvent, int64) {
	t.Helper()
	heard, at, err := hear(t.Context(), l, facts)
	if err != nil {
		t.Fatal(err)
	}
	return heard, at
}

func positions(heard []domain.LiveEvent) (all []int64) {
	for _, h := range heard {
		all = append(all, h.Position)
	}
	return all
}

func TestWhoListensHearsOfTheirTopicAlone(t *testing.T) {
	s := newStore(t)
	do(t, s, putIn{"a", 1}) // 1
	l := listen(t, tailOf(s), eventstore.Now, "a", "c")
	do(t, s, putIn{"b", 1}) // 2
	do(t, s, bill{"a"})     // 3: not of the feed's types
	do(t, s, putIn{"a", 2}, putIn{"c", 3})
	heard, at := mustHear(t, l, 2)
	if got := positions(heard); !slices.Equal(got, []int64{4, 5}) || at != 5 || heard[0].Event != (coinsPut{2}) ||
		heard[1].Stream != tillStream("c") {
		t.Errorf("%+v until %d", heard, at)
	}
	if heard, at, err := l.Take(t.Context()); err != nil || len(heard) != 0 || at != 5 {
		t.Errorf("%+v until %d, %v", heard, at, err)
	}
}

func TestWhoComesBackHearsWhatTheyHaveMissed(t *testing.T) {
	s := newStore(t)
	for range 5 {
		do(t, s, putIn{"a", 1}, putIn{"b", 1})
	}
	tail := tailOf(s)
	for after, want := range map[int64][]int64{0: {1, 3, 5, 7, 9}, 3: {5, 7, 9}, 8: {9}} {
		heard, _ := mustHear(t, listen(t, tail, after, "a"), len(want))
		if got := positions(heard); !slices.Equal(got, want) {
			t.Errorf("after %d: %v, not %v", after, got, want)
		}
	}
}

func TestListeningAheadOfTheLogIsRefused(t *testing.T) {
	s := newStore(t)
	do(t, s, putIn{"a", 1})
	tail := tailOf(s)
	var refusal *domain.Error
	if _, err := tail.Listen(t.Context(), 2, tillStream("a")); !errors.As(err, &refusal) || refusal.Field != "last_event_id" {
		t.Error(err)
	}
	listen(t, tail, 1, "a")
}

// A listener at a position too far back gets no replay and has to read anew.
func TestWhatIsFarBackIsNotToldAgain(t *testing.T) {
	s := newStore(t)
	do(t, s, putIn{"a", 1})
	_, err := s.Pool().Exec(t.Context(), `
		insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data, meta, recorded_at, hash)
		select n, 'till-far' || n, 1, gen_random_uuid(), 'till.bill_written', 1, 'test', gen_random_uuid(),
			'event:site-1/1', '', '{}', '{}', now(), '' from generate_series(2, $1::int) n`, eventstore.FarBack+1)
	if err != nil {
		t.Fatal(err)
	}
	tail := tailOf(s)
	if l := listen(t, tail, 1, "a"); l.Lost() {
		t.Error("that is not far back")
	}
	l := listen(t, tail, 0, "a")
	if !l.Lost() {
		t.Error("that is far back")
	}
	do(t, s, putIn{"a", 2})
	if heard, at := mustHear(t, l, 1); heard[0].Event != (coinsPut{2}) || at != eventstore.FarBack+2 {
		t.Errorf("%+v until %d", heard, at)
	}
}

func TestASlowListenerIsSentAway(t *testing.T) {
	s := newStore(t)
	tail := tailOf(s)
	quick, slow := listen(t, tail, eventstore.Now, "a"), listen(t, tail, eventstore.Now, "a")
	do(t, s, putIn{"a", 1})
	_, at := mustHear(t, slow, 1)
	heard := 1
	for range 30 {
		var ten []domain.Command
		for range 10 {
			ten = append(ten, putIn{"a", 1})
		}
		do(t, s, ten...)
		next, _ := mustHear(t, quick, 10)
		heard += len(next)
	}
	if heard < 301 {
		t.Errorf("the fast listener got %d events", heard)
	}
	if _, _, err := hear(t.Context(), slow, 1); !errors.Is(err, eventstore.ErrSlow) {
		t.Error(err)
	}
	slow.Close()
	slow.Close()
	if again, _ := mustHear(t, listen(t, tail, at, "a"), 300); again[0].Position != at+1 || len(again) != 300 {
		t.Errorf("%d events from %d on, after %d", len(again), again[0].Position, at)
	}
}

// Two processes write. Listeners disconnect from one, and continue at the other
// from their last position.
func TestNothingIsMissedOrHeardTwice(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	const writers, each, people = 8, 60, 12
	url := eventstoretest.URL(t)
	var stores []*eventstore.Store
	var tails []*eventstore.Feed
	for range 2 {
		s := storeOn(t, eventstoretest.Pool(t, url))
		stores, tails = append(stores, s), append(tails, tailOf(s))
	}
	var writing, hearing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for range each {
				if _, err := stores[w%2].Execute(
					t.Context(), domain.Metadata{Actor: "test"}, putIn{fmt.Sprint(w), 1},
					putIn{fmt.Sprint("beside", w), 1},
				); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for p := range people {
		hearing.Go(func() {
			chance := rand.New(rand.NewPCG(seed, uint64(p)))
			topics := []domain.Stream{tillStream(fmt.Sprint(p % 4)), tillStream(fmt.Sprint(p%4 + 4))}
			var heard []domain.LiveEvent
			for at := int64(0); len(heard) < 2*each; {
				l, err := tails[chance.IntN(2)].Listen(t.Context(), at, topics...)
				if err != nil {
					t.Error(err)
					return
				}
				next, until, err := hear(t.Context(), l, min(1+chance.IntN(20), 2*each-len(heard)))
				l.Close()
				if err != nil {
					t.Error(err)
					return
				}
				heard, at = append(heard, next...), until
			}
			history, err := stores[0].Reader().ReadStreams(t.Context(), 3*each, topics...)
			if err != nil {
				t.Error(err)
			}
			var want []int64
			for _, r := range history {
				want = append(want, r.Position)
			}
			if got := positions(heard); !slices.Equal(got, want) {
				t.Errorf("of %v, %v was heard and not %v", topics, got, want)
			}
		})
	}
	writing.Wait()
	hearing.Wait()
}

// A hundred listeners come and go, and no goroutine is left.
func TestTheFeedStopsWithoutListeners(t *testing.T) {
	s := newStore(t)
	tail := tailOf(s)
	do(t, s, putIn{"a", 1})
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			for range 5 {
				l, err := tail.Listen(t.Context(), 0, tillStream("a"))
				if err != nil {
					t.Error(err)
					return
				}
				if _, _, err := hear(t.Context(), l, 1); err != nil {
					t.Error(err)
				}
				l.Close()
			}
		})
	}
	all.Wait()
	settles(t, before+2) // the pool may keep goroutines of its own
}

// settles waits until at most this many goroutines run.
func settles(t *testing.T, most int) {
	t.Helper()
	for deadline := time.Now().Add(aMinute); runtime.NumGoroutine() > most; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines instead of %d:\n%s", runtime.NumGoroutine(), most, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
