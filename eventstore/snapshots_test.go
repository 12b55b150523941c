package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// branchOn is a process of its own on a log, with snapshots every so many events.
func branchOn(t testing.TB, url string, every int) *eventstore.Store {
	t.Helper()
	return serve(
		eventstore.Open(
			eventstoretest.Pool(t, url), facts, eventstoretest.Keys(t), eventstoretest.Caused(),
			eventstore.WithSnapshots(every),
		),
	)
}

// settled waits until all snapshots that are due have been written.
func settled(t testing.TB, s *eventstore.Store) {
	t.Helper()
	for !s.Settled() {
		if t.Context().Err() != nil {
			t.Fatal("the snapshots were not written")
		}
		time.Sleep(time.Millisecond)
	}
}

func snapshotsIn(t testing.TB, s *eventstore.Store) (n int) {
	t.Helper()
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from snapshots`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// forges changes the snapshots.
func forges(t testing.TB, s *eventstore.Store, sql string) {
	t.Helper()
	if tag, err := s.Pool().Exec(t.Context(), sql); err != nil || tag.RowsAffected() != 1 {
		t.Fatal(sql, tag, err)
	}
}

// coinsIn folds a till from the log.
func coinsIn(t testing.TB, s *eventstore.Store, id string) int {
	t.Helper()
	state, _, err := eventstore.Fold(t.Context(), s, tills, tillStream(id))
	if err != nil {
		t.Fatal(err)
	}
	return state.Coins
}

// filled has a till with a coin from each request, a snapshot after some of them, and the
// ids of the requests.
func filled(t testing.TB, s *eventstore.Store, coins int) (requests []uuid.UUID) {
	t.Helper()
	for range coins {
		id := uuid.New()
		requests = append(requests, id)
		if _, err := s.Execute(t.Context(), domain.Metadata{ID: id, Actor: "system:test"}, putIn{"a", 1}); err != nil {
			t.Fatal(err)
		}
	}
	settled(t, s)
	if snapshotsIn(t, s) != 1 {
		t.Fatal("there is no snapshot")
	}
	return requests
}

// Random commands, repeated requests and restarts: a store with a snapshot every three
// events gives the answers of a store that has none.
func TestAnswersAreTheSameWithSnapshotsAsWithout(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	with, without := branchOn(t, eventstoretest.URL(t), 3), branchOn(t, eventstoretest.URL(t), 0)
	type request struct {
		id       uuid.UUID
		commands []domain.Command
	}
	var asked []request
	for n := range 400 {
		r := request{id: uuid.New()}
		for range 1 + random.IntN(3) {
			id := fmt.Sprint(random.IntN(3))
			r.commands = append(r.commands, []domain.Command{
				putIn{id, 1 + random.IntN(4)},
				takeOut{id, 1 + random.IntN(6)},
				bill{id},
				open{id, "Ana Ruiz", uuid.NewSHA1(uuid.Nil, []byte(id))},
				putUp{id},
				emptyIt{id},
			}[random.IntN(6)])
		}
		if n > 0 && random.IntN(4) == 0 {
			r = asked[random.IntN(len(asked))]
		}
		asked = append(asked, r)
		m := domain.Metadata{ID: r.id, Actor: "system:test"}
		got, err := with.Execute(t.Context(), m, r.commands...)
		want, wantErr := without.Execute(t.Context(), m, r.commands...)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("request %d, %+v:\n%+v, %v\n%+v, %v", n, r.commands, got, err, want, wantErr)
		}
		switch random.IntN(12) {
		case 0:
			settled(t, with)
			with.Forget()
		case 1:
			with.Forget()
		}
	}
	settled(t, with)
	if snapshotsIn(t, with) == 0 || snapshotsIn(t, without) != 0 {
		t.Errorf("%d and %d snapshots", snapshotsIn(t, with), snapshotsIn(t, without))
	}
	for _, id := range []string{"0", "1", "2"} {
		if got, want := coinsIn(t, with, id), coinsIn(t, without, id); got != want {
			t.Errorf("till %s has %d coins, want %d", id, got, want)
		}
	}
}

func TestARepeatOfAnOldRequestIsRecognisedBehindASnapshot(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	s := branchOn(t, url, 5)
	requests := filled(t, s, 48)
	many := domain.Metadata{ID: uuid.New(), Actor: "system:test"} // a request of more events than are compared at a time
	commands := make([]domain.Command, 230)
	for i := range commands {
		commands[i] = putIn{"a", 1}
	}
	if _, err := s.Execute(t.Context(), many, commands...); err != nil {
		t.Fatal(err)
	}
	filled(t, s, 7)
	other := branchOn(t, url, 5)
	for _, process := range []*eventstore.Store{s, other, s, other} { // the second time they have it in the cache
		for n, id := range requests {
			again, err := process.Execute(t.Context(), domain.Metadata{ID: id, Actor: "system:test"}, putIn{"a", 1})
			if err != nil || again.Position != int64(n+1) || again.Versions[tillStream("a")] != 285 {
				t.Fatalf("request %d is answered with %+v, %v", n, again, err)
			}
		}
		if again, err := process.Execute(t.Context(), many, commands...); err != nil || again.Position != 278 {
			t.Errorf("a long request is answered with %+v, %v", again, err)
		}
	}
	if n := coinsIn(t, other, "a"); n != 285 {
		t.Errorf("%d coins", n)
	}
}

func TestASnapshotOfAnotherFoldIsNotUsed(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	s := branchOn(t, url, 5)
	filled(t, s, 9)
	forges(t, s, `update snapshots set state = '{"Coins":1000}'`)
	if n := coinsIn(t, branchOn(t, url, 0), "a"); n < 1000 {
		t.Errorf("the snapshot is not used: %d coins", n)
	}
	changed := tills
	changed.Fold++
	later := branchOn(t, url, 5)
	eventstore.Serve(later, "till", changed)
	if n := coinsIn(t, later, "a"); n != 9 {
		t.Errorf("the snapshot of an earlier fold is used: %d coins", n)
	}
	settled(t, later)
	if n := coinsIn(t, branchOn(t, url, 0), "a"); n != 9 {
		t.Errorf("the snapshot of a later fold is used: %d coins", n)
	}
}

// A snapshot may be of a log that was restored or changed since. Each of these is a state
// of it that a decision does not begin with.
func TestASnapshotOfAnotherLogIsNotUsed(t *testing.T) {
	t.Parallel()
	for _, forged := range []string{
		`update snapshots set hash = sha256('another log')`,
		`update snapshots set version = version + 100`, // which the log does not have
		`update snapshots set state = '[]'`,
		`update snapshots set ids = substr(ids, 5)`,
		`update snapshots set fold = 'another'`,
		`delete from snapshots`,
	} {
		url := eventstoretest.URL(t)
		s := branchOn(t, url, 5)
		requests := filled(t, s, 9)
		if forged != `delete from snapshots` {
			forges(t, s, `update snapshots set state = '{"Coins":1000}'`)
		}
		forges(t, s, forged)
		fresh := branchOn(t, url, 5)
		if receipt := do(t, fresh, takeOut{"a", 2}); receipt.Versions[tillStream("a")] != 10 {
			t.Errorf("%s: %+v", forged, receipt)
		}
		if _, err := fresh.Execute(t.Context(), domain.Metadata{}, takeOut{"a", 8}); domain.CodeOf(err) != domain.Conflict {
			t.Errorf("%s: more coins are taken than there are: %v", forged, err)
		}
		if again, err := fresh.Execute(t.Context(), domain.Metadata{ID: requests[0]}, putIn{"a", 1}); err != nil || again.Position != 1 {
			t.Errorf("%s: the first request is answered with %+v, %v", forged, again, err)
		}
		settled(t, fresh)
		if n := coinsIn(t, branchOn(t, url, 0), "a"); n != 7 || snapshotsIn(t, fresh) != 1 {
			t.Errorf("%s: %d coins, %d snapshots", forged, n, snapshotsIn(t, fresh))
		}
	}
}

// Two processes write one stream, and each forgets what it knows.
func TestSnapshotsOfTwoProcessesAgree(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	here, there := branchOn(t, url, 3), branchOn(t, url, 4)
	var wg sync.WaitGroup
	var refused int
	var mu sync.Mutex
	for n := range 120 {
		wg.Go(func() {
			s := []*eventstore.Store{here, there}[n%2]
			for {
				_, err := s.Execute(context.Background(), domain.Metadata{}, putIn{"a", 2}, takeOut{"a", 1})
				if errors.Is(err, eventstore.ErrConflict) {
					mu.Lock()
					refused++
					mu.Unlock()
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	wg.Wait()
	settled(t, here)
	settled(t, there)
	t.Logf("%d conflicts", refused)
	if n := coinsIn(t, branchOn(t, url, 0), "a"); n != 120 {
		t.Errorf("%d coins", n)
	}
	intact(t, here, 240)
}

// However long a stream is, its snapshot lets a process that knows nothing read the last
// events only.
func TestOfALongStreamTheEventsBehindItsSnapshotAreRead(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	url := eventstoretest.URL(t)
	s := branchOn(t, url, 200)
	coins := make([]domain.Event, 10_000)
	for i := range coins {
		coins[i] = coinsPut{1}
	}
	if _, err := s.Append(t.Context(), domain.Metadata{}, tillStream("a"), 0, nil, coins...); err != nil {
		t.Fatal(err)
	}
	settled(t, s)
	fresh := branchOn(t, url, 200)
	if n := trips(fresh, func() { do(t, fresh, takeOut{"a", 10_000}) }); n != 2 {
		t.Errorf("a command takes %d trips", n)
	}
	var version, bytes int
	if err := s.Pool().QueryRow(t.Context(), `select version, octet_length(ids) from snapshots`).Scan(&version, &bytes); err != nil ||
		version != 10_000 || bytes != 40_000 {
		t.Errorf("the snapshot is of version %d, with %d bytes of ids, %v", version, bytes, err)
	}
	rows, _ := s.Pool().Query(t.Context(), `explain `+eventstore.FromSnapshot, "till-a", s.FoldOf("till"))
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Seq Scan") || !strings.Contains(text, "AND (version >= ") {
		t.Errorf("all events of the stream are read:\n%s\n%v", text, err)
	}
}

func TestACacheHoldsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	s := branchOn(t, eventstoretest.URL(t), 0)
	s.CacheAtMost(3000)
	for n := range 50 {
		do(t, s, putIn{fmt.Sprint(n), 1})
		do(t, s, putIn{"a", 1}) // which is used again and again
	}
	if s.Remembered(tillStream("0")) != 0 || s.Remembered(tillStream("49")) != 1 || s.Remembered(tillStream("a")) != 50 {
		t.Errorf(
			"cached are %d, %d and %d events", s.Remembered(tillStream("0")), s.Remembered(tillStream("49")),
			s.Remembered(tillStream("a")),
		)
	}
}

func TestNoNameIsInASnapshot(t *testing.T) {
	t.Parallel()
	url := registered(t)
	s := clerk(t, url)
	ana := uuid.New()
	for range 5 {
		do(t, s, open{"a", "Ana Ruiz", ana})
	}
	settled(t, s)
	var named, all int
	err := s.Pool().QueryRow(
		t.Context(), `select count(*) filter (where snapshots::text like '%Ana%'), count(*) from snapshots`,
	).Scan(&named, &all)
	if err != nil || named != 0 || all != 1 {
		t.Errorf("%d of %d snapshots have the name, %v", named, all, err)
	}
	if err := erase(t.Context(), s, ana); err != nil {
		t.Fatal(err)
	}
	do(t, clerk(t, url), open{"a", "Ana Ruiz", ana})
	intact(t, s, 7)
}
