package eventstore_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

// The keys of a year are destroyed under a secret key that came later. Those of other years
// and of a key of the earlier form stand, until the year of the migration is due.
func TestTheKeysOfOneYearAreDestroyed(t *testing.T) {
	url, ctx := eventstoretest.URL(t), t.Context()
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	process := func(keys string) *eventstore.Store {
		s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys), eventstoretest.Caused())
		eventstore.Serve(s, "till", tills)
		return s
	}
	s, ana, place := process(old), uuid.New(), sealing.Place{Kind: "document", ID: "INV-2020-000001", Pointer: "/pdf"}
	purposes := []domain.Purpose{domain.FiscalOf(2020), domain.FiscalOf(2021), domain.Fiscal}
	sealed := map[domain.Purpose][]byte{}
	for _, p := range purposes {
		bytes, ok, err := s.SealFile(ctx, ana, p, place, []byte("Ana"))
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		sealed[p] = bytes
	}
	migration, err := os.ReadFile("migrations/0019_fiscal_years.sql")
	if err != nil {
		t.Fatal(err)
	}
	owner, thisYear := eventstoretest.Owner(t, url), time.Now().UTC().Year()
	if _, err := owner.Exec(ctx, `create temporary table years as select purpose, year
		from subject_keys; alter table subject_keys drop column year; `+string(migration)+
		`; update subject_keys k set year = y.year from years y where y.purpose = k.purpose and y.year is not null`); err != nil {
		t.Fatal(err)
	}
	rotated := process(fresh + "," + old)
	if err := rotated.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	due, err := dueYears(ctx, rotated, thisYear)
	if want := []eventstore.FiscalYear{{Year: 2020, Keys: 1}, {Year: 2021, Keys: 1}, {Year: thisYear, Keys: 1}}; err != nil ||
		!reflect.DeepEqual(due, want) {
		t.Fatal(due, err)
	}
	destroy := func(y eventstore.FiscalYear) error {
		_, err := rotated.ExecuteWith(ctx, domain.Metadata{}, eventstore.EraseYear(y), putIn{"erasures", 1})
		return err
	}
	opens := func() (left []domain.Purpose) {
		reader := process(fresh + "," + old) // which remembers no key
		for _, p := range purposes {
			if _, ok, err := reader.OpenFile(ctx, ana, p, place, sealed[p]); err != nil {
				t.Error(err)
			} else if ok {
				left = append(left, p)
			}
		}
		return left
	}
	if err := destroy(eventstore.FiscalYear{Year: 2020, Keys: 2}); domain.CodeOf(err) != domain.Conflict || len(opens()) != 3 {
		t.Error("keys that were counted otherwise:", err, opens())
	}
	for i, y := range due {
		if err := errors.Join(destroy(y)); err != nil || !reflect.DeepEqual(
			append([]domain.Purpose{}, opens()...), append([]domain.Purpose{}, purposes[i+1:]...),
		) {
			t.Error(y, err, opens())
		}
	}
	if _, ok, err := process(fresh).SealFile(ctx, ana, purposes[0], place, []byte("Ana")); err != nil || ok {
		t.Error("sealed for a year that is over:", ok, err)
	}
	intact(t, rotated, 3)
}

// dueYears are the years up to the last one of which keys are left, the earliest first.
func dueYears(ctx context.Context, s *eventstore.Store, last int) (due []eventstore.FiscalYear, err error) {
	sql, args := eventstore.DueFiscalYears(last)
	rows, _ := s.Pool().Query(ctx, `select key::int from (`+sql+`) d order by since`, args...)
	years, err := pgx.CollectRows(rows, pgx.RowTo[int])
	for _, year := range years {
		keys, failed := s.FiscalKeys(ctx, year)
		due, err = append(due, eventstore.FiscalYear{Year: year, Keys: keys}), errors.Join(err, failed)
	}
	return due, err
}
