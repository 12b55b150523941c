package eventstore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A register is a read table with the owners of the tills. An erasure blanks
// their names.
type register struct{}

func (register) Project(r eventstore.RecordedEvent) []eventstore.Statement {
	switch e := r.Event.(type) {
	case tillOpened:
		return []eventstore.Statement{{SQL: `insert into register values ($1, $2)`, Args: []any{r.Stream.ID, e.Owner}}}
	case coinsPut: // into the till "erasures"
		return []eventstore.Statement{{SQL: `update register set owner = ''`}}
	}
	return nil
}

func (register) Together(all []eventstore.Statement) []eventstore.Statement { return all }

// registered creates a database with the register.
func registered(t *testing.T) string {
	t.Helper()
	url := eventstoretest.URL(t)
	if _, err := eventstoretest.Owner(t, url).Exec(t.Context(),
		`create table register (till text, owner text); grant select, insert, update on register to `+eventstore.AppRole); err != nil {
		t.Fatal(err)
	}
	return url
}

// clerk opens a store with an empty cache, like another process.
func clerk(t *testing.T, url string) *eventstore.Store {
	t.Helper()
	s := eventstore.Open(
		eventstoretest.Pool(t, url), taxFacts, eventstoretest.Keys(t), eventstore.WithProjector(register{}),
		eventstoretest.Caused(), eventstore.WithSnapshots(1),
	)
	eventstore.Serve(s, "till", tills)
	return s
}

// taxReported holds personal data with a legal retention period.
type taxReported struct {
	Of   uuid.UUID `json:"subject"`
	Name string    `json:"name"`
}

func (taxReported) EventName() string { return "till.tax_reported" }
func (taxReported) Says() string      { return "tax reported" }
func (taxReported) FiscalYear() int   { return 2026 }

var taxFacts = domain.NewCatalogue([]domain.EventType{
	domain.Register[coinsPut](), domain.Register[tillOpened]().Sealing(domain.Contact, "owner"),
	domain.Register[taxReported]().Sealing(domain.Fiscal, "name"),
})

// erase destroys the keys of subjects, together with an event.
func erase(ctx context.Context, s *eventstore.Store, subjects ...uuid.UUID) error {
	_, err := s.ExecuteWith(ctx, domain.Metadata{}, eventstore.EraseRows(subjects...), putIn{"erasures", 1})
	return err
}

func owner(t *testing.T, s *eventstore.Store, till string) string {
	t.Helper()
	history, err := s.Read(t.Context(), tillStream(till))
	if err != nil || len(history) == 0 {
		t.Fatal(history, err)
	}
	return history[0].Event.(tillOpened).Owner
}

// inRegister counts the tills in the register with the name of an owner.
func inRegister(t *testing.T, s *eventstore.Store) (named int) {
	t.Helper()
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from register where owner <> ''`).Scan(&named); err != nil {
		t.Fatal(err)
	}
	return named
}

func TestWhoIsErasedIsBlankWhereverTheLogIsReadAgain(t *testing.T) {
	url := registered(t)
	s := clerk(t, url)
	ana, err := s.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ben := uuid.New()
	do(t, s, open{"a", "Ana Ruiz", ana}, open{"b", "Ben", ben})
	if _, err := s.Append(t.Context(), domain.Metadata{}, tillStream("tax"), 0, nil, taxReported{ana, "Ana Ruiz, NIF 1"}); err != nil {
		t.Fatal(err)
	}
	if err := erase(t.Context(), s, ana); err != nil {
		t.Fatal(err)
	}
	fresh := clerk(t, url)
	if got := owner(t, fresh, "a") + owner(t, fresh, "b"); got != "Ben" {
		t.Errorf("the log reads %q", got)
	}
	blank := 0
	if err := fresh.Reader().Replay(t.Context(), 0, func(r eventstore.RecordedEvent) error { // like a rebuild
		switch e := r.Event.(type) {
		case tillOpened:
			if e.Owner == "" {
				blank++
			}
		case taxReported:
			if e.Name != "Ana Ruiz, NIF 1" {
				t.Errorf("what the law wants kept reads %q", e.Name)
			}
		}
		return nil
	}); err != nil || blank != 1 {
		t.Errorf("%d owners are blank, %v", blank, err)
	}
	intact(t, fresh, 4)
	if again, err := fresh.Subject(t.Context(), "ana@example.com"); err != nil || again == ana {
		t.Errorf("who comes back is known as %s, %v", again, err)
	}
	if err := erase(t.Context(), s, ana, uuid.New()); err != nil {
		t.Errorf("a repeated erasure, and that of an unknown subject: %v", err)
	}
}

// Another process still caches the key when it writes its next event.
func TestNothingIsSealedAnewForWhoWasErased(t *testing.T) {
	url := registered(t)
	ana := uuid.New()
	office, branch := clerk(t, url), clerk(t, url)
	do(t, branch, open{"a", "Ana Ruiz", ana})
	if got := owner(t, branch, "a"); got != "Ana Ruiz" { // it caches her key from now on
		t.Errorf("the log reads %q", got)
	}
	if err := erase(t.Context(), office, ana); err != nil {
		t.Fatal(err)
	}
	do(t, branch, open{"b", "Ana Ruiz", ana})
	do(t, clerk(t, url), open{"c", "Ana Ruiz", ana})
	if n := inRegister(t, office); n != 0 {
		t.Errorf("%d tills of the register still have her name", n)
	}
	if got := owner(t, clerk(t, url), "b") + owner(t, clerk(t, url), "c"); got != "" {
		t.Errorf("the log reads %q", got)
	}
	never := uuid.New()
	if err := erase(t.Context(), office, never); err != nil {
		t.Fatal(err)
	}
	do(t, branch, open{"d", "A new owner", never})
	if n := inRegister(t, office); n != 0 {
		t.Error("the name of a subject that was erased before it was first recorded")
	}
	intact(t, office, 6)
}

func TestAnErasureInTheMiddleOfAFloodLeavesNoNames(t *testing.T) {
	url := registered(t)
	ana := uuid.New()
	office, branch := clerk(t, url), clerk(t, url)
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			s := []*eventstore.Store{office, branch}[n%2]
			if _, err := s.Execute(context.Background(), domain.Metadata{}, open{fmt.Sprint(n), "Ana Ruiz", ana}); err != nil {
				t.Error(err)
			}
		})
		if n == 100 {
			wg.Go(func() {
				if err := erase(context.Background(), office, ana); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if n := inRegister(t, office); n != 0 {
		t.Errorf("%d names are left in the register", n)
	}
	intact(t, clerk(t, url), 201)
}

// All writers wait during this query.
func TestWhoWasErasedIsFoundByTheIndexHoweverManyAreAskedFor(t *testing.T) {
	eventstoretest.Measures(t)
	s := newStore(t)
	if _, err := s.Pool().Exec(t.Context(), `
		insert into subject_keys select gen_random_uuid(), 'contact', 'id', 'key' from generate_series(1, 20000)`); err != nil {
		t.Fatal(err)
	}
	rows, _ := s.Pool().Query(t.Context(), `select subject from subject_keys limit 250`)
	subjects, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		t.Fatal(err)
	}
	purposes := slices.Repeat([]string{"contact"}, len(subjects))
	rows, _ = s.Pool().Query(t.Context(), `explain `+eventstore.KeysStand, subjects, purposes, len(subjects))
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if text := strings.Join(plan, "\n"); err != nil || strings.Contains(text, "Seq Scan") || !strings.Contains(text, "subject_keys_pkey") {
		t.Errorf("%s\n%v", text, err)
	}
}
