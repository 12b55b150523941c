package eventstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// Rows of a group that differ in their values alone are one statement. Those of one key
// stay in their order, equal ones are one, and a member whose row is missing fails alone.
func TestRowsOfAGroupAreAStatementForEachSort(t *testing.T) {
	url := eventstoretest.URL(t)
	s, owner := storeOn(t, eventstoretest.Pool(t, url)), eventstoretest.Owner(t, url)
	_, err := owner.Exec(t.Context(), `
		create table tally (name text primary key, n int not null);
		create table executed (what text);
		create function note() returns trigger language plpgsql as $$ begin insert into executed values (tg_op); return null; end $$;
		create trigger note after insert or update on tally for each statement execute function note();
		insert into tally select n, 0 from generate_series(0, 9) n; insert into tally values ('first', 0); truncate executed;
		grant select, insert, update on tally, executed to `+eventstore.AppRole)
	if err != nil {
		t.Fatal(err)
	}
	errAbsent := errors.New("absent")
	adds := func(name string, n int) eventstore.TxStatement {
		return eventstore.TxStatement{
			Key: "tally/" + name, SQL: `update tally set n = tally.n * 10 + arg.n from arg where tally.name = arg.name`,
			Columns: "name text, n int", Args: []any{name, n}, WantRows: 1, ErrIfNot: errAbsent,
		}
	}
	ensures := eventstore.TxStatement{
		Key: "tally/new", SQL: `insert into tally select name, n from arg on conflict do nothing`,
		Columns: "name text, n int", Args: []any{"new", 5}, WantRows: eventstore.AnyRows,
	}
	group := func(members ...[]eventstore.TxStatement) []error {
		answers := make([]chan error, len(members)+1)
		add := func(i int, rows ...eventstore.TxStatement) {
			answers[i] = make(chan error, 1)
			go func() {
				_, err := s.ExecuteWith(t.Context(), domain.Metadata{}, rows)
				answers[i] <- err
			}()
		}
		err := pgx.BeginFunc(t.Context(), owner, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `select from tally where name = 'first' for update`); err != nil {
				return err
			}
			for s.Busy() != -1 { // the group before has answered, but may not have ended
				time.Sleep(time.Millisecond)
			}
			add(0, adds("first", 1))
			for s.Busy() != 0 { // its group waits for the row
				time.Sleep(time.Millisecond)
			}
			for i, rows := range members {
				add(i+1, rows...)
				for s.Busy() != i+1 {
					time.Sleep(time.Millisecond)
				}
			}
			_, err := tx.Exec(t.Context(), `truncate executed`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []error
		for _, answer := range answers {
			all = append(all, <-answer)
		}
		return all[1:]
	}
	executed := func() (updates, inserts int) {
		if err := owner.QueryRow(t.Context(), `select count(*) filter (where what = 'UPDATE') - 1,
			count(*) filter (where what = 'INSERT') from executed`).
			Scan(&updates, &inserts); err != nil {
			t.Fatal(err)
		}
		return updates, inserts
	}
	figures := func() (text string) {
		if err := owner.QueryRow(t.Context(), `select string_agg(name || '=' || n, ' ' order by name) from tally
			where n <> 0 and name <> 'first'`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}

	var members [][]eventstore.TxStatement
	for n := range 8 {
		members = append(members, []eventstore.TxStatement{ensures, adds(fmt.Sprint(7-n), n+1)})
	}
	if err := errors.Join(group(members...)...); err != nil {
		t.Fatal(err)
	}
	if updates, inserts := executed(); updates != 1 || inserts != 1 {
		t.Errorf("%d updates and %d inserts for 8 members", updates, inserts)
	}
	if got := figures(); got != "0=8 1=7 2=6 3=5 4=4 5=3 6=2 7=1 new=5" {
		t.Error(got)
	}

	if err := errors.Join(
		group(
			[]eventstore.TxStatement{adds("8", 1), adds("9", 1)}, []eventstore.TxStatement{adds("8", 2)},
			[]eventstore.TxStatement{adds("8", 3)},
		)...,
	); err != nil {
		t.Fatal(err)
	}
	if updates, _ := executed(); updates != 3 {
		t.Errorf("%d updates for three of one row and one of another", updates)
	}
	if got := figures(); got != "0=8 1=7 2=6 3=5 4=4 5=3 6=2 7=1 8=123 9=1 new=5" {
		t.Error(got)
	}

	answers := group(
		[]eventstore.TxStatement{adds("0", 1)}, []eventstore.TxStatement{adds("1", 1), adds("nowhere", 1)},
		[]eventstore.TxStatement{adds("2", 1)},
	)
	if answers[0] != nil || !errors.Is(answers[1], errAbsent) || answers[2] != nil {
		t.Error(answers)
	}
	if got := figures(); got != "0=81 1=7 2=61 3=5 4=4 5=3 6=2 7=1 8=123 9=1 new=5" {
		t.Error(got)
	}
}
