package eventstore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// The tests keep a till: coins go in, and never more out than there are.
type (
	till  struct{ Coins int }
	putIn struct {
		ID    string
		Coins int
	}
	takeOut struct {
		ID    string
		Coins int
	}
	open struct {
		ID, Owner string
		Subject   uuid.UUID
	}
	bill struct{ ID string }
)

type (
	coinsPut struct {
		Coins int `json:"coins"`
	}
	coinsTaken struct {
		Coins int `json:"coins"`
	}
	tillOpened struct {
		Of    uuid.UUID `json:"subject"`
		Owner string    `json:"owner"`
	}
	billWritten struct {
		Number int64 `json:"number"`
	}
)

func (coinsPut) EventName() string                  { return "till.coins_put" }
func (coinsTaken) EventName() string                { return "till.coins_taken" }
func (tillOpened) EventName() string                { return "till.opened" }
func (billWritten) EventName() string               { return "till.bill_written" }
func (coinsPut) Says() string                       { return "coins put" }
func (coinsTaken) Says() string                     { return "coins taken" }
func (tillOpened) Says() string                     { return "opened" }
func (billWritten) Says() string                    { return "bill written" }
func (billWritten) Series() string                  { return "BILL" }
func (billWritten) WithNumber(n int64) domain.Event { return billWritten{n} }

func tillStream(id string) domain.Stream { return domain.Stream{Category: "till", ID: id} }
func (c putIn) Stream() domain.Stream    { return tillStream(c.ID) }
func (c takeOut) Stream() domain.Stream  { return tillStream(c.ID) }
func (c open) Stream() domain.Stream     { return tillStream(c.ID) }
func (c bill) Stream() domain.Stream     { return tillStream(c.ID) }

func (t till) TenantID() int64 { return 7 }

var tills = domain.Decider[till, domain.Command, domain.Event]{
	Decide: func(t till, c domain.Command) ([]domain.Event, error) {
		switch c := c.(type) {
		case putIn:
			return []domain.Event{coinsPut{c.Coins}}, nil
		case open:
			return []domain.Event{tillOpened{c.Subject, c.Owner}}, nil
		case bill:
			return []domain.Event{billWritten{}}, nil
		case takeOut:
			if c.Coins > t.Coins {
				return nil, domain.Refuse(domain.Conflict, "there are only %d coins", t.Coins)
			}
			return []domain.Event{coinsTaken{c.Coins}}, nil
		}
		return nil, errors.New("no such command")
	},
	Evolve: func(t till, e domain.Event) till {
		switch e := e.(type) {
		case coinsPut:
			t.Coins += e.Coins
		case coinsTaken:
			t.Coins -= e.Coins
		}
		return t
	},
}

var facts = domain.NewCatalogue([]domain.EventType{
	domain.Register[coinsPut](), domain.Register[coinsTaken](), domain.Register[billWritten](),
	domain.Register[tillOpened]().Sealing(domain.Contact, "owner"),
})

func newStore(t testing.TB, options ...eventstore.Option) *eventstore.Store {
	return serve(eventstoretest.Store(t, facts, options...))
}

// serve lets a store decide on tills and drawers.
func serve(s *eventstore.Store) *eventstore.Store {
	eventstore.Serve(s, "till", tills)
	eventstore.Serve(s, "drawer", drawers)
	return s
}

func do(t testing.TB, s *eventstore.Store, commands ...domain.Command) domain.Receipt {
	t.Helper()
	receipt, err := s.Execute(t.Context(), domain.Metadata{Actor: "system:test"}, commands...)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func TestWhatIsDecidedCanBeReadBack(t *testing.T) {
	s := newStore(t)
	receipt := do(t, s, putIn{"a", 5}, takeOut{"a", 2}, putIn{"b", 1})
	if receipt.Position != 3 || receipt.Versions[tillStream("a")] != 2 {
		t.Errorf("receipt %+v", receipt)
	}
	history, err := s.Read(t.Context(), tillStream("a"))
	if err != nil || len(history) != 2 || history[1].Event != (coinsTaken{2}) || history[1].Tenant != 7 ||
		history[1].Metadata.Actor != "system:test" {
		t.Errorf("history %+v, %v", history, err)
	}
}

func TestARefusedCommandLeavesNothingBehind(t *testing.T) {
	s := newStore(t)
	_, err := s.Execute(t.Context(), domain.Metadata{}, putIn{"b", 1}, takeOut{"a", 2})
	if domain.CodeOf(err) != domain.Conflict {
		t.Errorf("got %v", err)
	}
	if head, _, _ := s.Reader().Head(t.Context()); head != 0 {
		t.Errorf("%d events were written", head)
	}
}

func TestARepeatedRequestAppendsNothing(t *testing.T) {
	s := newStore(t)
	cause := domain.Metadata{ID: uuid.New(), Actor: "system:test"}
	for range 3 {
		receipt, err := s.Execute(t.Context(), cause, putIn{"a", 5})
		if err != nil || receipt.Position != 1 || receipt.Versions[tillStream("a")] != 1 {
			t.Errorf("receipt %+v, %v", receipt, err)
		}
	}
}

// Sixty-four writers, one stream each and one that all share: no event is
// lost, none is doubled, positions have no gaps and everybody is served.
// Of many who have looked at the same version, one may change it.
func TestWhoHasSeenAnOlderVersionIsRefused(t *testing.T) {
	s := newStore(t)
	do(t, s, putIn{"a", 5})
	put := func(version int) error {
		_, err := s.Execute(
			t.Context(),
			domain.Metadata{Actor: "system:test", ExpectedVersions: domain.Versions{tillStream("a"): version}},
			putIn{"a", 1}, putIn{"a", 1},
		)
		return err
	}
	if err := put(0); domain.CodeOf(err) != domain.Stale {
		t.Fatal(err)
	}
	refused := make(chan error, 20)
	for range cap(refused) {
		go func() { refused <- put(1) }()
	}
	won := 0
	for range cap(refused) {
		switch err := <-refused; {
		case err == nil:
			won++
		case domain.CodeOf(err) != domain.Stale:
			t.Error(err)
		}
	}
	if history, err := s.Read(t.Context(), tillStream("a")); won != 1 || len(history) != 3 || err != nil {
		t.Fatalf("%d have won, %d facts (%v)", won, len(history), err)
	}
}

func TestNumbersHaveNoGapsWhateverFails(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			commands := []domain.Command{bill{fmt.Sprint(i)}}
			row := eventstore.TxStatement{Key: "x", SQL: `update readers set position = 0 where name = 'nobody'`, WantRows: int64(i % 2)}
			_, _ = s.ExecuteWith(context.Background(), domain.Metadata{}, []eventstore.TxStatement{row}, commands...)
		})
	}
	wg.Wait()
	seen := map[int64]bool{}
	err := s.Reader().Replay(
		t.Context(), 0,
		func(r eventstore.RecordedEvent) error { seen[r.Event.(billWritten).Number] = true; return nil },
	)
	if err != nil || len(seen) != 15 {
		t.Fatalf("%d numbers, want 15 (%v)", len(seen), err)
	}
	for n := range int64(15) {
		if !seen[n+1] {
			t.Errorf("number %d is missing", n+1)
		}
	}
}

func TestTheLogCannotBeChanged(t *testing.T) {
	url := eventstoretest.URL(t)
	s := storeOn(t, eventstoretest.Pool(t, url))
	do(t, s, putIn{"a", 5})
	owner := eventstoretest.Owner(t, url)
	for _, sql := range []string{`update events set name = 'x'`, `delete from events`, `truncate events`} {
		if _, err := s.Pool().Exec(t.Context(), sql); err == nil {
			t.Errorf("the program may %s", sql)
		}
		if _, err := owner.Exec(t.Context(), sql); err == nil {
			t.Errorf("the owner may %s", sql)
		}
	}
}

func TestVerifyNamesTheFirstBrokenEvent(t *testing.T) {
	url := eventstoretest.URL(t)
	s := storeOn(t, eventstoretest.Pool(t, url))
	for i := range 10 {
		do(t, s, putIn{fmt.Sprint(i % 2), 1})
	}
	forge := func(sql string) {
		_, err := eventstoretest.Owner(t, url).Exec(
			t.Context(), `alter table events disable trigger user; `+sql+`; alter table events enable trigger user`,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	forge(`update events set data = '{"coins":1000}' where position = 6`)
	verdict, err := s.Reader().Verify(t.Context(), nil)
	if err != nil || verdict.Intact || verdict.Broken != 6 {
		t.Errorf("%+v, %v", verdict, err)
	}
	forge(`delete from events where position = 3`)
	verdict, err = s.Reader().Verify(t.Context(), nil)
	if err != nil || verdict.Intact || verdict.Broken != 3 {
		t.Errorf("%+v, %v", verdict, err)
	}
}

func TestTheLogAsItStood(t *testing.T) {
	s := newStore(t)
	do(t, s, putIn{"a", 1})
	_, first, _ := s.Reader().Head(t.Context())
	do(t, s, putIn{"a", 2})
	do(t, s, putIn{"b", 3})
	for _, c := range []struct {
		version int
		at      time.Time
		want    int
	}{{0, time.Time{}, 2}, {1, time.Time{}, 1}, {0, first, 1}, {0, first.Add(-time.Microsecond), 0}} {
		history, err := s.Reader().ReadUntil(t.Context(), tillStream("a"), c.version, c.at)
		if err != nil || len(history) != c.want {
			t.Errorf("until %d, %v: %d facts, want %d (%v)", c.version, c.at, len(history), c.want, err)
		}
	}
}
