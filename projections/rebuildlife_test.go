package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

func TestARebuildThatWasInterruptedGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l, chance := openLibrary(t, set), seeded(t)
	l.fill(t)
	l.randomly(t, chance, 300)
	ctx, stop := context.WithCancel(t.Context())
	_, err := set.rebuildWith(ctx, l.owner, l.Reader(), Options{PerSec: 400, Progress: func(done, _ int64) {
		if done >= 200 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	l.randomly(t, chance, 50) // writers did not stop
	live := contents(t, l.owner, "books")
	result, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{})
	if err != nil || result.From < 100 || result.Position != 400 {
		t.Fatalf("%+v, %v", result, err)
	}
	if rebuilt := contents(t, l.owner, "books"); rebuilt != live {
		t.Fatalf("live:\n%s\nrebuilt:\n%s", live, rebuilt)
	}
	if again, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{}); err != nil || again.From != 0 {
		t.Fatalf("%+v, %v", again, err)
	}
}

// A rebuild that is interrupted within a statement loses its connection. Its locks are free
// when it returns all the same.
func TestTheLocksOfAnInterruptedRebuildAreFree(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		err := alone(ctx, l.owner, func(conn *pgx.Conn) error {
			if err := lock(ctx, conn, "interrupted"); err != nil {
				return err
			}
			go stop()
			var err error
			for err == nil {
				_, err = conn.Exec(ctx, `select count(*) from generate_series(1, 100000)`)
			}
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		var free bool
		if err := l.owner.QueryRow(t.Context(), `select pg_try_advisory_xact_lock(hashtext('interrupted'))`).Scan(&free); err != nil ||
			!free {
			t.Fatal("the lock is still held", err)
		}
	}
}

func TestWhatAnotherDefinitionHasLeftIsNotGoneOnWith(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l := openLibrary(t, set)
	l.fill(t)
	ctx, stop := context.WithCancel(t.Context())
	_, _ = set.rebuildWith(ctx, l.owner, l.Reader(), Options{PerSec: 40, Progress: func(int64, int64) { stop() }})
	other := Set{shelf(strings.Replace(shelfSQL, "title text", "title varchar(99)", 1))}
	if result, err := other.rebuildWith(t.Context(), l.owner, l.Reader(), Options{}); err != nil || result.From != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
}

// loans is a second table about the same events.
func loans() *Projection {
	return New("loans", `create table loans (book text primary key, times bigint not null default 0)`,
		On(func(at eventstore.RecordedEvent, _ bookLent) Change {
			return count("loans", Row{{"book", at.Stream.ID}}, Row{{"times", 1}})
		}))
}

func TestSeveralTablesAreRebuiltAtOnceAndEachByOneProcess(t *testing.T) {
	t.Parallel()
	books, lent := shelf(shelfSQL), loans()
	l, chance := openLibrary(t, Set{books, lent}), seeded(t)
	l.fill(t)
	l.randomly(t, chance, 200)
	live := contents(t, l.owner, "books") + contents(t, l.owner, "loans")
	begun, others := make(chan bool), make(chan bool)
	var slow sync.WaitGroup
	var once sync.Once
	slow.Go(func() {
		if _, err := (Set{books}).rebuildWith(t.Context(), l.owner, l.Reader(), Options{Progress: func(int64, int64) {
			once.Do(func() { close(begun); <-others })
		}}); err != nil {
			t.Error(err)
		}
	})
	<-begun
	if _, err := (Set{lent}).rebuildWith(t.Context(), l.owner, l.Reader(), Options{}); err != nil {
		t.Error("another table:", err)
	}
	var refusal *domain.Error
	if _, err := (Set{lent, books}).rebuildWith(t.Context(), l.owner, l.Reader(), Options{}); !errors.As(err, &refusal) ||
		refusal.Message != "books is being rebuilt already." {
		t.Error("the same table:", err)
	}
	close(others)
	slow.Wait()
	if _, err := (Set{books, lent}).rebuildWith(t.Context(), l.owner, l.Reader(), Options{}); err != nil {
		t.Error("both in one pass:", err)
	}
	if rebuilt := contents(t, l.owner, "books") + contents(t, l.owner, "loans"); rebuilt != live {
		t.Fatalf("live:\n%s\nrebuilt:\n%s", live, rebuilt)
	}
}

func TestARebuildKeepsToItsRate(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l, chance := openLibrary(t, set), seeded(t)
	l.fill(t)
	l.randomly(t, chance, 50)
	if result, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{PerSec: 500}); err != nil ||
		result.Took < 200*time.Millisecond {
		t.Fatalf("100 events at 500 a second took %s: %v", result.Took, err)
	}
}

// A check finds each row that the log does not say, while writers go on, and leaves
// the tables alone. A rebuild with a check puts them right.
func TestACheckNamesEachRowThatDiffers(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l, chance := openLibrary(t, set), seeded(t)
	l.fill(t)
	ctx, stop := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writer.Go(func() {
		for ctx.Err() == nil {
			l.randomly(t, chance, 20)
		}
	})
	check := func() Result {
		t.Helper()
		result, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{KeepOld: true})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if result := check(); result.Different != 0 {
		t.Fatalf("%+v", result)
	}
	if _, err := l.owner.Exec(t.Context(), `
		update books set since = since - interval '1 s' where id = '7';
		insert into books (id, title, since) values ('stranger', 'Sanditon', now())`); err != nil {
		t.Fatal(err)
	}
	want := "[{books 7 changed [since]} {books stranger not_in_log []}]"
	if result := check(); result.Different != 2 || fmt.Sprint(result.Differences) != want {
		t.Fatalf("%+v", result)
	}
	stop()
	writer.Wait()
	if _, err := l.owner.Exec(t.Context(), `delete from books where id = '7'`); err != nil {
		t.Fatal(err)
	}
	want = "[{books 7 missing []} {books stranger not_in_log []}]"
	if result, err := set.rebuildWith(t.Context(), l.owner, l.Reader(), Options{Check: true}); err != nil ||
		fmt.Sprint(result.Differences) != want {
		t.Fatalf("%+v, %v", result, err)
	}
	if result := check(); result.Different != 0 {
		t.Fatalf("%+v", result)
	}
	var status string
	var left bool
	if err := l.owner.QueryRow(
		t.Context(), `select status, to_regnamespace('rebuild_books') is not null from projections`,
	).Scan(&status, &left); err != nil || status != "live" || left {
		t.Fatal(status, left, err)
	}
}

// A change of the register would wait for all who read it, and have their statements planned anew.
func TestAStartLeavesACompleteRegisterAsItIs(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	definition := func() (at string) {
		if err := p.owner.QueryRow(t.Context(), `
			select concat_ws(' ', c.xmin, c.relacl, (select max(a.xmin::text::bigint) from pg_attribute a where a.attrelid = c.oid))
			from pg_class c where c.oid = 'projections'::regclass`).Scan(&at); err != nil {
			t.Fatal(err)
		}
		return at
	}
	prepare := func() {
		if err := Prepare(t.Context(), p.owner, p.Reader()); err != nil {
			t.Fatal(err)
		}
	}
	before := definition()
	prepare()
	if after := definition(); after != before {
		t.Errorf("the register was %s, and is %s", before, after)
	}
	if _, err := p.owner.Exec(t.Context(), `revoke select on projections from `+eventstore.AppRole); err != nil {
		t.Fatal(err)
	}
	prepare()
	var reads bool
	if err := p.owner.QueryRow(
		t.Context(), `select has_table_privilege($1, 'projections', 'select')`, eventstore.AppRole,
	).Scan(&reads); err != nil || !reads {
		t.Errorf("the program reads the register: %v, %v", reads, err)
	}
}
