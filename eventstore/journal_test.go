package eventstore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// The doorkeeper writes down who knocks, and never needs to read it.
type knock struct{ Door, Who string }

type knocked struct {
	Who string `json:"who"`
}

var knocksRead atomic.Int64

func (k *knocked) UnmarshalJSON(data []byte) error {
	knocksRead.Add(1)
	type plain knocked
	return json.Unmarshal(data, (*plain)(k))
}

func (knocked) EventName() string       { return "door.knocked" }
func (knocked) Says() string            { return "knocked" }
func (c knock) Stream() domain.Stream   { return doorStream(c.Door) }
func doorStream(d string) domain.Stream { return domain.Stream{Category: "door", ID: d} }

// knocks counts what it is shown, so that a state that is not zero shows.
var knocks = domain.Decider[int, knock, domain.Event]{
	Decide: func(seen int, c knock) ([]domain.Event, error) {
		if seen != 0 {
			return nil, fmt.Errorf("%d knocks were read to write down one", seen)
		}
		return []domain.Event{knocked{c.Who}}, nil
	},
	Evolve: func(seen int, _ domain.Event) int { return seen + 1 },
}

var doorFacts = domain.NewCatalogue(
	[]domain.EventType{domain.Register[knocked](), domain.Register[coinsPut](), domain.Register[coinsTaken]()},
)

// doorkeeper is a process of its own on the log behind the URL.
func doorkeeper(t *testing.T, url string) *eventstore.Store {
	s := eventstore.Open(eventstoretest.Pool(t, url), doorFacts, eventstoretest.Keys(t), eventstoretest.Caused())
	eventstore.Journal(s, "door", knocks)
	eventstore.Serve(s, "till", tills)
	return s
}

func intact(t *testing.T, s *eventstore.Store, facts int64) {
	t.Helper()
	if v, err := s.Reader().Verify(t.Context(), nil); err != nil || !v.Intact || v.Checked != facts {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestOfALongJournalOnlyTheLastEventIsRead(t *testing.T) {
	url := eventstoretest.URL(t)
	many := make([]domain.Event, 10_000)
	for i := range many {
		many[i] = knocked{fmt.Sprint(i)}
	}
	if _, err := doorkeeper(t, url).Append(t.Context(), domain.Metadata{}, doorStream("12"), 0, nil, many...); err != nil {
		t.Fatal(err)
	}
	s := doorkeeper(t, url) // which remembers nothing
	before := knocksRead.Load()
	receipt := do(t, s, knock{"12", "Ana"}, knock{"12", "Ben"})
	if read := knocksRead.Load() - before; read != 1 || receipt.Versions[doorStream("12")] != 10_002 {
		t.Errorf("%d facts were read, and it went on with %+v", read, receipt)
	}
	for range 5 {
		do(t, s, knock{"12", "Eve"}, putIn{"a", 1}) // beside a stream with a state
	}
	if read := knocksRead.Load() - before; read > 3 {
		t.Errorf("%d facts were read for six entries", read)
	}
	if n := s.Remembered(doorStream("12")); n != 1 {
		t.Errorf("%d facts are remembered of the journal", n)
	}
	intact(t, s, 10_012)
}

func TestManyWriteIntoOneJournalAndNothingIsLost(t *testing.T) {
	url := eventstoretest.URL(t)
	first, second := doorkeeper(t, url), doorkeeper(t, url)
	var wg sync.WaitGroup
	for n := range 400 {
		wg.Go(func() {
			s := []*eventstore.Store{first, second}[n%2]
			if _, err := s.Execute(context.Background(), domain.Metadata{}, knock{"0", fmt.Sprint(n)}); err != nil {
				t.Errorf("knock %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	intact(t, first, 400)
}

func TestARepeatedEntryIsMadeOnce(t *testing.T) {
	s := doorkeeper(t, eventstoretest.URL(t))
	cause := domain.Metadata{ID: uuid.New()}
	for range 3 {
		if receipt, err := s.Execute(t.Context(), cause, knock{"12", "Ana"}); err != nil || receipt.Position != 1 {
			t.Errorf("%+v, %v", receipt, err)
		}
	}
	intact(t, s, 1)
}
