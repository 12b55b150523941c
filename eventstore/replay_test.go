package eventstore_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A reader that opens no text reads the same events with blank texts, also when the
// keys are not at hand. One that decodes some names reads the others without content.
func TestAReplayOpensAndDecodesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	s := eventstore.Open(
		eventstoretest.Pool(t, url), domain.NewCatalogue(eventTypesOfReplay), eventstoretest.Keys(t),
		eventstoretest.Caused(),
	)
	const events = 5_000 // several pages
	for n := 0; n < events; n += 1_000 {
		facts := make([]domain.Event, 1_000)
		for i := range facts {
			if facts[i] = (counted{N: n + i}); i%2 == 1 {
				facts[i] = named{Subject: uuid.New(), Name: fmt.Sprint("Ana ", n+i)}
			}
		}
		if _, err := s.Append(
			t.Context(), domain.Metadata{}, domain.Stream{Category: "replay", ID: fmt.Sprint(n)}, 0, nil, facts...,
		); err != nil {
			t.Fatal(err)
		}
	}
	all := replayed(t, s.Reader())
	for i, e := range all {
		want := domain.Event(counted{N: i})
		if is, ok := e.Event.(named); ok {
			want = named{Subject: is.Subject, Name: fmt.Sprint("Ana ", i)}
		}
		if e.Position != int64(i+1) || e.Event != want {
			t.Fatalf("%+v at %d", e, i+1)
		}
	}
	if _, err := eventstoretest.Owner(t, url).Exec(t.Context(), `delete from subject_keys`); err != nil {
		t.Fatal(err)
	}
	if err := s.Reader().Afresh().Replay(t.Context(), 0, func(eventstore.RecordedEvent) error { return nil }); err == nil {
		t.Error("texts open without their keys")
	}
	for i, e := range replayed(t, s.Reader().Closed()) {
		want := all[i]
		if is, ok := want.Event.(named); ok {
			want.Event, want.Subjects = named{Subject: is.Subject}, nil
		}
		if !reflect.DeepEqual(e, want) {
			t.Fatalf("closed: %+v, want %+v", e, want)
		}
	}
	for i, e := range replayed(t, s.Reader().Afresh().Of(func(name string) bool { return name == "replay.counted" })) {
		if want := all[i]; want.Name == "replay.counted" && !reflect.DeepEqual(e, want) ||
			want.Name != "replay.counted" && (e.Event != nil || e.Position != want.Position) {
			t.Fatalf("of a name: %+v, want %+v", e, want)
		}
	}
	enough, n := errors.New("enough"), 0
	err := s.Reader().Closed().Replay(t.Context(), 10, func(e eventstore.RecordedEvent) error {
		if n++; e.Position == 1_500 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 1_490 {
		t.Errorf("%d events, %v", n, err)
	}
}

func replayed(t *testing.T, r *eventstore.Reader) (all []eventstore.RecordedEvent) {
	t.Helper()
	if err := r.Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error { all = append(all, e); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

type counted struct {
	N int `json:"n"`
}

func (counted) EventName() string { return "replay.counted" }
func (counted) Says() string      { return "counted" }

type named struct {
	Subject uuid.UUID `json:"subject"`
	Name    string    `json:"name"`
}

func (named) EventName() string { return "replay.named" }
func (named) Says() string      { return "named" }

var eventTypesOfReplay = []domain.EventType{
	domain.Register[counted](), domain.Register[named]().Sealing(domain.Contact, "name"),
}
