package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestAnEventIsInTheReadTableOnceItIsInTheLog(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	l.do(t, Put{"1", "Emma"}, Lend{"1"})
	if got := contents(t, l.owner, "books"); !strings.HasPrefix(got, `(1,Emma,1,"2`) {
		t.Fatal(got)
	}
}

func TestOneOfManyCallersGetsANameThatMayExistOnce(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	results := make(chan error, 20)
	for i := range cap(results) {
		go func() {
			_, err := l.Execute(t.Context(), domain.Metadata{}, Put{fmt.Sprint(i), "Emma"})
			results <- err
		}()
	}
	won := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, titleTaken):
			t.Error(err)
		}
	}
	var facts int
	if err := l.owner.QueryRow(t.Context(), `select count(*) from events`).Scan(&facts); err != nil {
		t.Fatal(err)
	}
	if won != 1 || facts != 1 {
		t.Fatalf("%d won, and %d facts stand in the log", won, facts)
	}
}

func TestARebuiltTableIsTheLiveOneByteForByte(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l, chance := openLibrary(t, set), seeded(t)
	l.fill(t)
	l.randomly(t, chance, 500)
	live := contents(t, l.owner, "books")
	heard := int64(0)
	if err := set.rebuild(t.Context(), l.owner, l.Reader(), func(done, all int64) { heard = done }); err != nil {
		t.Fatal(err)
	}
	if rebuilt := contents(t, l.owner, "books"); rebuilt != live {
		t.Fatalf("live:\n%s\nrebuilt:\n%s", live, rebuilt)
	}
	if heard != 550 {
		t.Fatalf("progress ended at %d", heard)
	}
}

func TestARebuildLosesNothingThatWritersAddMeanwhileAndNoReaderSeesAGap(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l, chance := openLibrary(t, set), seeded(t)
	l.fill(t)
	ctx, stop := context.WithCancel(t.Context())
	var workers sync.WaitGroup
	workers.Go(func() {
		for ctx.Err() == nil {
			l.randomly(t, chance, 20)
		}
	})
	workers.Go(func() {
		for ctx.Err() == nil {
			var n int
			if err := l.Pool().QueryRow(t.Context(), `select count(*) from books`).Scan(&n); err != nil || n != 50 {
				t.Errorf("a reader found %d books: %v", n, err)
				return
			}
		}
	})
	for range 5 {
		if err := set.rebuild(t.Context(), l.owner, l.Reader(), nil); err != nil {
			t.Error(err)
		}
	}
	stop()
	workers.Wait()
	live := contents(t, l.owner, "books")
	if err := set.rebuild(t.Context(), l.owner, l.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	if rebuilt := contents(t, l.owner, "books"); rebuilt != live {
		t.Fatalf("live:\n%s\nrebuilt:\n%s", live, rebuilt)
	}
}

func TestAChangedDefinitionIsBuiltAnewAtTheNextStart(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	l.do(t, Put{"1", "Emma"}, Lend{"1"})
	l.prepare(t, Set{shelf(strings.Replace(shelfSQL, "title text", "title varchar(99)", 1))})
	l.do(t, Lend{"1"})
	var kind string
	var lent int
	if err := l.Pool().QueryRow(t.Context(), `select pg_typeof(title), lent from books`).Scan(&kind, &lent); err != nil {
		t.Fatal(err)
	}
	if kind != "character varying" || lent != 2 {
		t.Fatal(kind, lent)
	}
}

func TestAnUnchangedDefinitionIsLeftAlone(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	table := func() (oid uint32) {
		if err := l.owner.QueryRow(t.Context(), `select 'books'::regclass::oid`).Scan(&oid); err != nil {
			t.Fatal(err)
		}
		return oid
	}
	before := table()
	l.prepare(t, Set{shelf(shelfSQL)})
	if after := table(); after != before {
		t.Fatal("the table was built anew")
	}
	l.prepare(t, Set{shelf(shelfSQL).Revision(2)})
	if after := table(); after == before {
		t.Fatal("a new revision must build the table anew")
	}
}

func TestAFailedRebuildLeavesTheOldTableAndSaysSo(t *testing.T) {
	t.Parallel()
	l := openLibrary(t, Set{shelf(shelfSQL)})
	l.do(t, Put{"1", "Emma"}, Put{"2", "Persuasion"}, Lend{"1"}, Lend{"2"})
	before := contents(t, l.owner, "books")
	err := Set{shelf(shelfSQL + `; create unique index books_lent on books (lent)`)}.prepare(t.Context(), l.owner, l.Reader())
	if err == nil || !strings.Contains(err.Error(), "book.put") {
		t.Fatalf("one rule that the log breaks: %v", err)
	}
	var status string
	var leftOver bool
	if err := l.owner.QueryRow(
		t.Context(), `select status, to_regnamespace('rebuild_books') is not null from projections`,
	).Scan(&status, &leftOver); err != nil {
		t.Fatal(err)
	}
	if after := contents(t, l.owner, "books"); status != "failed" || leftOver || after != before {
		t.Fatal(status, leftOver, after)
	}
	l.prepare(t, Set{shelf(shelfSQL)}) // the next start, with the definition that the table has
	if err := l.owner.QueryRow(t.Context(), `select status from projections`).Scan(&status); err != nil || status != "live" {
		t.Fatal(status, err)
	}
}

func TestOperatorsSeeHowFarEveryTableIs(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l := openLibrary(t, set)
	l.do(t, Put{"1", "Emma"}, Lend{"1"})
	tables := Open(l.Pool())
	state := func() State {
		t.Helper()
		all, err := tables.For(Caller{Superuser: true}).Operations().States(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		return all[0]
	}
	if s := state(); s.Name != "books" || s.Status != "live" || s.Position != 2 || s.Head != 2 {
		t.Fatalf("%+v", s)
	}
	if err := set.rebuild(t.Context(), l.owner, l.Reader(), func(int64, int64) {
		if s := state(); s.Status != "rebuilding" || s.Head != 2 {
			t.Errorf("%+v", s)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if all, err := tables.For(Caller{KeyOwner: 1}).Operations().States(t.Context()); err != nil || len(all) != 0 {
		t.Fatal(all, err)
	}
}

func TestStartsAtTheSameTimeTakeTurns(t *testing.T) {
	t.Parallel()
	set := Set{shelf(shelfSQL)}
	l := openLibrary(t, set)
	l.do(t, Put{"1", "Emma"})
	errs := make(chan error, 4)
	for range cap(errs) {
		go func() { errs <- Set{shelf(shelfSQL).Revision(3)}.prepare(t.Context(), l.owner, l.Reader()) }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A reader that locks the tables of a rebuild in another order makes a deadlock.
// Neither the rebuild nor the reader fails of it.
func TestAReaderThatLocksTheTablesInAnotherOrderStopsNoRebuild(t *testing.T) {
	t.Parallel()
	set := Set{New("books", shelfSQL+`; create table loans (book text primary key)`,
		On(func(at eventstore.RecordedEvent, e bookPut) Change {
			return insert("books", Row{{"id", at.Stream.ID}, {"title", e.Title}, {"since", now}})
		}))}
	l := openLibrary(t, set)
	l.do(t, Put{"1", "Emma"})
	reader, err := eventstoretest.Superuser(t, l.owner).Begin(t.Context()) // who alone may set the time of a deadlock
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), `set local deadlock_timeout = '1min'; select from loans`); err != nil {
		t.Fatal(err)
	}
	rebuilt := make(chan error, 1)
	go func() { rebuilt <- set.rebuild(t.Context(), l.owner, l.Reader(), nil) }()
	awaitLockOn(t, l, "loans") // the rebuild has books, and waits
	if _, err := reader.Exec(t.Context(), `select from books`); err != nil {
		t.Errorf("the reader failed: %v", err)
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-rebuilt; err != nil {
		t.Errorf("the rebuild failed: %v", err)
	}
}

// bookBilled is numbered, so its transaction makes several round trips.
type bookBilled struct{ Number int64 }

func (bookBilled) EventName() string                 { return "book.billed" }
func (bookBilled) Says() string                      { return "billed" }
func (bookBilled) Series() string                    { return "BILL" }
func (e bookBilled) WithNumber(n int64) domain.Event { e.Number = n; return e }

// A writer that waits for its turn holds no read table. Otherwise a rebuild, whose
// turn it is, would wait for the writer.
func TestAWriterHasNoLockOnAReadTableBeforeItsTurn(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	l := library{
		eventstore.Open(
			eventstoretest.Pool(t, url), domain.NewCatalogue([]domain.EventType{domain.Register[bookBilled]()}),
			eventstoretest.Keys(t), eventstoretest.Caused(),
		),
		eventstoretest.Owner(t, url),
	}
	eventstore.Serve(l.Store, "book", domain.Decider[book, domain.Command, domain.Event]{
		Decide: func(book, domain.Command) ([]domain.Event, error) { return []domain.Event{bookBilled{}}, nil },
		Evolve: func(b book, _ domain.Event) book { return b },
	})
	l.prepare(t, Set{New("bills", `create table bills (number bigint primary key)`,
		On(func(_ eventstore.RecordedEvent, e bookBilled) Change {
			return insert("bills", Row{{"number", e.Number}})
		}))})

	turn, err := l.owner.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := eventstore.LockWriters(t.Context(), turn); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := l.Execute(t.Context(), domain.Metadata{}, Lend{"1"})
		written <- err
	}()
	const held = `select exists (select from pg_locks where relation = 'bills'::regclass
			and database = (select oid from pg_database where datname = current_database()))
		from pg_locks where locktype = 'advisory' and not granted and database = (select oid from pg_database
			where datname = current_database())`
	var holds bool
	for deadline := time.Now().Add(time.Minute); ; {
		if err = l.owner.QueryRow(t.Context(), held).Scan(&holds); err == nil || time.Now().After(deadline) {
			break
		}
	}
	if err != nil || holds {
		t.Errorf("the waiting writer holds a lock on the read table: %v, %v", holds, err)
	}
	if err := turn.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	if got := contents(t, l.owner, "bills"); got != "(1)" {
		t.Fatal(got)
	}
}

// awaitLockOn returns when a process waits for the table.
func awaitLockOn(t *testing.T, l library, table string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		var waits bool
		err := l.owner.QueryRow(t.Context(), `
			select exists (select from pg_locks where relation = $1::regclass and not granted
				and database = (select oid from pg_database where datname = current_database()))`, table).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		if waits {
			return
		}
	}
	t.Fatalf("no connection waits for %s", table)
}

var _ eventstore.Projector = Set{}
