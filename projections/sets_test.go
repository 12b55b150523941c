package projections

import (
	"context"
	"errors"
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

type (
	bookGone  struct{}
	shelfFull struct{ Most int }
)

func (bookGone) EventName() string  { return "book.gone" }
func (bookGone) Says() string       { return "gone" }
func (shelfFull) EventName() string { return "book.limited" }
func (shelfFull) Says() string      { return "limited" }

// manyBooks is a shelf with every sort of change: titles that may be there once, a limit,
// figures, and rows that go.
var manyBooks = New("many_books", shelfSQL+`;
	create table lends (title text primary key, lent int not null);
	create table full_shelf (n int check (n < 0))`,
	On(func(at eventstore.RecordedEvent, e bookPut) Change {
		return insert("books", Row{{"id", at.Stream.ID}, {"title", e.Title}, {"since", now}})
	}).Unique("books_title", titleTaken),
	Rule(`insert into full_shelf select 1 where (select count(*) from books) > $1`, func(_ eventstore.RecordedEvent, e shelfFull) []any {
		return []any{e.Most}
	}),
	On(func(at eventstore.RecordedEvent, e bookRenamed) Change {
		return update("books", its(at), Row{{"title", e.Title}})
	}),
	On(func(at eventstore.RecordedEvent, _ bookLent) Change {
		return count("lends", Row{{"title", "all"}}, Row{{"lent", 1}}).with(update("books", its(at), Row{{"lent", plus("lent", 1)}}))
	}),
	On(func(at eventstore.RecordedEvent, _ bookGone) Change { return remove("books", its(at)) }),
)

// Statements that were joined leave what they leave one by one, and never pass where
// one of them would have been refused.
func TestJoinedStatementsDoWhatTheyDoOneByOne(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Log("seed", seed)
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	pool := eventstoretest.Owner(t, eventstoretest.URL(t))
	if _, err := pool.Exec(t.Context(), strings.Join(manyBooks.rules, ";")); err != nil {
		t.Fatal(err)
	}
	passed, refused, joined := 0, 0, 0
	for range 200 {
		var all []eventstore.Statement
		for n := range 2 + random.IntN(10) {
			book := fmt.Sprint(random.IntN(4))
			var e domain.Event
			switch random.IntN(7) {
			case 0, 1:
				book = fmt.Sprint(10 + n)
				e = bookPut{fmt.Sprint("title ", random.IntN(14))}
			case 2:
				e = bookRenamed{fmt.Sprint("title ", random.IntN(14))}
			case 3, 4:
				e = bookLent{}
			case 5:
				e = shelfFull{5 + random.IntN(4)}
			default:
				e = bookGone{}
			}
			all = append(
				all,
				manyBooks.Project(
					eventstore.RecordedEvent{Stream: domain.Stream{Category: "book", ID: book}, Name: e.EventName(), Event: e},
				)...,
			)
		}
		together := Set{manyBooks}.Together(all)
		want, refusal := carriedOut(t, pool, all)
		got, err := carriedOut(t, pool, together)
		switch {
		case refusal != nil && err == nil:
			t.Fatalf("%d statements were refused one by one (%v), but not together", len(all), refusal)
		case refusal != nil || err != nil:
			refused++ // together more often: the committer then goes one by one
		case got != want:
			t.Fatalf("%d statements left\n%s\ntogether, and one by one\n%s", len(all), got, want)
		default:
			passed++
			joined += len(all) - len(together)
		}
	}
	if passed < 50 || refused < 50 || joined < 50 {
		t.Errorf("%d passed, %d were refused, %d statements were saved: too few of one", passed, refused, joined)
	}
}

// carriedOut is what statements make of a shelf with four books. Nothing of it stays.
func carriedOut(t *testing.T, pool *pgxpool.Pool, statements []eventstore.Statement) (left string, refusal error) {
	t.Helper()
	undo := errors.New("undo")
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `insert into books (id, title, since) select n, 'title ' || n, 'epoch' from generate_series(0, 3) n`)
		if err == nil {
			_, err = tx.Exec(
				t.Context(), `select set_config('hostpanel.recorded_at', $1, true)`,
				time.Unix(1, 0).UTC().Format(time.RFC3339),
			)
		}
		for _, s := range statements {
			if err == nil {
				_, err = tx.Exec(t.Context(), s.SQL, s.Args...)
			}
		}
		if err == nil {
			left, err = leftBy(t.Context(), tx)
		}
		if err != nil {
			return err
		}
		return undo
	})
	if errors.Is(err, undo) {
		return left, nil
	}
	if !strings.Contains(err.Error(), "SQLSTATE 23") {
		t.Fatal(err)
	}
	return "", err
}

func leftBy(ctx context.Context, tx pgx.Tx) (left string, err error) {
	err = tx.QueryRow(ctx, `select coalesce(string_agg(x, chr(10) order by x), '') from (
		select b::text x from books b union all select l::text from lends l) all_rows`).Scan(&left)
	return left, err
}

// Orders that are placed in one commit take one statement of each sort.
func TestRowsOfManyEventsAreOneStatement(t *testing.T) {
	t.Parallel()
	var all []eventstore.Statement
	for n := range 50 {
		at := eventstore.RecordedEvent{
			Stream: domain.Stream{Category: "book", ID: fmt.Sprint(n)}, Name: "book.put",
			Event: bookPut{fmt.Sprint("title ", n)},
		}
		all = append(all, manyBooks.Project(at)...)
		at.Name, at.Event = "book.lent", bookLent{}
		all = append(all, manyBooks.Project(at)...)
	}
	if joined := (Set{manyBooks}).Together(all); len(joined) != 2 {
		t.Errorf("%d statements", len(joined))
	}
}
