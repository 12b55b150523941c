package projections

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// The mechanism is told with a shelf of books, each a stream of its own.

type (
	Put    struct{ Book, Title string }
	Rename struct{ Book, Title string }
	Lend   struct{ Book string }

	bookPut     struct{ Title string }
	bookRenamed struct{ Title string }
	bookLent    struct{}

	book struct{ there bool }
)

func (bookPut) EventName() string     { return "book.put" }
func (bookRenamed) EventName() string { return "book.renamed" }
func (bookLent) EventName() string    { return "book.lent" }
func (bookPut) Says() string          { return "put" }
func (bookRenamed) Says() string      { return "renamed" }
func (bookLent) Says() string         { return "lent" }

func (c Put) Stream() domain.Stream    { return domain.Stream{Category: "book", ID: c.Book} }
func (c Rename) Stream() domain.Stream { return domain.Stream{Category: "book", ID: c.Book} }
func (c Lend) Stream() domain.Stream   { return domain.Stream{Category: "book", ID: c.Book} }

var bookFacts = []domain.EventType{domain.Register[bookPut](), domain.Register[bookRenamed](), domain.Register[bookLent]()}

var bookDecider = domain.Decider[book, domain.Command, domain.Event]{
	Decide: func(b book, c domain.Command) ([]domain.Event, error) {
		switch c := c.(type) {
		case Put:
			return []domain.Event{bookPut{c.Title}}, nil
		case Rename:
			return []domain.Event{bookRenamed{c.Title}}, nil
		default:
			return []domain.Event{bookLent{}}, nil
		}
	},
	Evolve: func(book, domain.Event) book { return book{true} },
}

var titleTaken = domain.RefuseField("title", "book with this title already exists.")

func shelf(sql string) *Projection {
	return New("books", sql,
		On(func(at eventstore.RecordedEvent, e bookPut) Change {
			return insert("books", Row{{"id", at.Stream.ID}, {"title", e.Title}, {"since", now}})
		}).Unique("books_title", titleTaken),
		On(func(at eventstore.RecordedEvent, e bookRenamed) Change {
			if e.Title == "" {
				return Change{}
			}
			return update("books", its(at), Row{{"title", e.Title}})
		}).Unique("books_title", titleTaken),
		On(func(at eventstore.RecordedEvent, _ bookLent) Change {
			return update("books", its(at), Row{{"lent", plus("lent", 1)}, {"changed", now}})
		}),
	)
}

const shelfSQL = `
	create table books (
		id text primary key, title text not null, lent int not null default 0,
		since timestamptz not null, changed timestamptz
	);
	create unique index books_title on books (title)`

// A library is a log with a shelf, which several processes may use.
type library struct {
	*eventstore.Store
	owner *pgxpool.Pool
}

func openLibrary(t testing.TB, set Set) library {
	t.Helper()
	url := eventstoretest.URL(t)
	l := library{
		eventstore.Open(eventstoretest.Pool(t, url), domain.NewCatalogue(bookFacts), eventstoretest.Keys(t), eventstoretest.Caused()),
		eventstoretest.Owner(t, url),
	}
	eventstore.Serve(l.Store, "book", bookDecider)
	l.prepare(t, set)
	return l
}

// prepare is what a start of the program with these projections does.
func (l library) prepare(t testing.TB, set Set) {
	t.Helper()
	l.Attach(eventstore.WithProjector(set))
	if err := set.prepare(t.Context(), l.owner, l.Reader()); err != nil {
		t.Fatal(err)
	}
}

// rebuild builds the tables anew.
func (s Set) rebuild(ctx context.Context, owner *pgxpool.Pool, log Log, progress func(done, all int64)) error {
	_, err := s.rebuildWith(ctx, owner, log, Options{Progress: progress})
	return err
}

func (l library) do(t testing.TB, commands ...domain.Command) {
	t.Helper()
	if _, err := l.Execute(t.Context(), domain.Metadata{Actor: "test"}, commands...); err != nil {
		t.Fatal(err)
	}
}

// contents are all rows of a table as text, in one order.
func contents(t testing.TB, pool *pgxpool.Pool, table string) string {
	t.Helper()
	rows, _ := pool.Query(t.Context(), `select t::text from `+pgx.Identifier{table}.Sanitize()+` t order by 1`)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

// fill puts 50 books on the shelf.
func (l library) fill(t testing.TB) {
	t.Helper()
	for i := range 50 {
		l.do(t, Put{fmt.Sprint(i), fmt.Sprint("book ", i)})
	}
}

// randomly writes events of all sorts about a few books.
func (l library) randomly(t testing.TB, chance *rand.Rand, facts int) {
	t.Helper()
	for i := range facts {
		id := fmt.Sprint(chance.IntN(50))
		var c domain.Command = Lend{id}
		switch chance.IntN(4) {
		case 0:
			c = Rename{id, fmt.Sprint("title ", i, chance.Uint64())}
		case 1:
			c = Rename{id, ""}
		}
		l.do(t, c)
	}
}

func seeded(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
