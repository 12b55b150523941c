package eventstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// The tests in this file keep drawers, which are put in once and may be emptied.
type (
	drawer  struct{ stands, empty bool }
	putUp   struct{ ID string }
	emptyIt struct{ ID string }
)

func (c putUp) Stream() domain.Stream   { return domain.Stream{Category: "drawer", ID: c.ID} }
func (c emptyIt) Stream() domain.Stream { return domain.Stream{Category: "drawer", ID: c.ID} }
func (putUp) Begins()                   {}

var drawers = domain.Decider[drawer, domain.Command, domain.Event]{
	Decide: func(d drawer, c domain.Command) ([]domain.Event, error) {
		_, begins := c.(putUp)
		switch {
		case begins && d.empty:
			return nil, domain.Refuse(domain.Conflict, "it was emptied")
		case begins && d.stands:
			return nil, nil
		case begins:
			return []domain.Event{coinsPut{1}}, nil
		}
		return []domain.Event{coinsTaken{1}}, nil
	},
	Evolve: func(d drawer, e domain.Event) drawer {
		_, taken := e.(coinsTaken)
		return drawer{stands: true, empty: d.empty || taken}
	},
}

// trips counts how often the store goes to the database.
func trips(s *eventstore.Store, do func()) int64 {
	before := s.Pool().Stat().AcquireCount()
	do()
	return s.Pool().Stat().AcquireCount() - before
}

func TestAStreamThatBeginsIsNotRead(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if n := trips(s, func() { do(t, s, putUp{"a"}, putUp{"b"}) }); n != 1 {
		t.Errorf("two streams begin in %d trips", n)
	}
}

func TestACommandThatBeginsAStreamIsDecidedOnWhatTheStreamHolds(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	request := domain.Metadata{ID: uuid.New(), Actor: "system:test"}
	first, err := s.Execute(t.Context(), request, putUp{"a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []uuid.UUID{request.ID, uuid.New()} { // the same request again, and another
		for _, process := range []*eventstore.Store{s, storeOn(t, s.Pool())} {
			again, err := process.Execute(t.Context(), domain.Metadata{ID: id, Actor: "system:test"}, putUp{"a"})
			if err != nil || again.Versions[putUp{"a"}.Stream()] != 1 {
				t.Errorf("what stands is put up again: %+v, %v", again, err)
			}
			if id == request.ID && again.Position != first.Position {
				t.Errorf("a repeated request is answered with position %d instead of %d", again.Position, first.Position)
			}
		}
	}
	late := storeOn(t, s.Pool())
	do(t, s, emptyIt{"a"})
	if _, err := late.Execute(t.Context(), domain.Metadata{Actor: "system:test"}, putUp{"a"}); domain.CodeOf(err) != domain.Conflict {
		t.Errorf("what was emptied elsewhere is put up again: %v", err)
	}
}

func TestWhatWasReadIsNotReadAgainForTheNextCommand(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	do(t, s, putUp{"a"})
	fresh := storeOn(t, s.Pool())
	n := trips(fresh, func() {
		if _, _, err := eventstore.Fold(t.Context(), fresh, drawers, putUp{"a"}.Stream()); err != nil {
			t.Fatal(err)
		}
		do(t, fresh, emptyIt{"a"})
	})
	if n != 2 {
		t.Errorf("a read and a command take %d trips", n)
	}
}

// A reaction to an event sees all that was so when the event was read, also what another
// process has done, and what it does itself.
func TestReactionsReadAStreamOnce(t *testing.T) {
	t.Parallel()
	writer := newStore(t)
	do(t, writer, putUp{"a"}, putUp{"b"})
	reacting := storeOn(t, writer.Pool())
	folded := func(ctx context.Context, id string) drawer {
		d, _, err := eventstore.Fold(ctx, reacting, drawers, putUp{id}.Stream())
		if err != nil {
			t.Error(err)
		}
		return d
	}
	folded(t.Context(), "a")
	folded(t.Context(), "b")
	do(t, writer, emptyIt{"a"})
	type seen struct {
		emptied, afterOwn bool
		again             int64 // trips to the database
	}
	saw := make(chan seen, 1)
	inLanes(t, reacting, "reactions", []string{coinsTaken{}.EventName()}, func(ctx context.Context, _ eventstore.RecordedEvent) error {
		if folded(ctx, "b").empty {
			return nil // that is the reaction's own
		}
		first := seen{emptied: folded(ctx, "a").empty}
		first.again = trips(reacting, func() { folded(ctx, "a"); folded(ctx, "b") })
		_, err := reacting.Execute(ctx, domain.Metadata{Actor: "system:test"}, emptyIt{"b"})
		first.afterOwn = folded(ctx, "b").empty
		saw <- first
		return err
	})
	if got := <-saw; got != (seen{emptied: true, afterOwn: true}) {
		t.Errorf("a reaction saw %+v", got)
	}
}

type putSlowly struct{}

func (putSlowly) Stream() domain.Stream { return domain.Stream{Category: "slow", ID: "a"} }

// A state that was read before a moment is not taken for one of that moment, however late
// it is folded.
func TestAStateIsAsOldAsItsReadingBegan(t *testing.T) {
	t.Parallel()
	var meanwhile func()
	folding := domain.Decider[int, domain.Command, domain.Event]{
		Decide: func(int, domain.Command) ([]domain.Event, error) { return []domain.Event{coinsPut{1}}, nil },
		Evolve: func(n int, _ domain.Event) int {
			if now := meanwhile; now != nil {
				meanwhile = nil
				now()
			}
			return n + 1
		},
	}
	writer := newStore(t)
	eventstore.Serve(writer, "slow", folding)
	do(t, writer, putSlowly{})
	reader := storeOn(t, writer.Pool())
	eventstore.Serve(reader, "slow", folding)
	var moment time.Time
	meanwhile = func() {
		do(t, writer, putSlowly{})
		moment = time.Now()
	}
	version := func(ctx context.Context) int {
		_, version, err := eventstore.Fold(ctx, reader, folding, putSlowly{}.Stream())
		if err != nil {
			t.Fatal(err)
		}
		return version
	}
	if n := version(t.Context()); n != 1 {
		t.Fatalf("the stream was read at version %d, not before the second event", n)
	}
	if n := version(eventstore.WithSince(t.Context(), moment)); n != 2 {
		t.Errorf("after the second event the stream has version %d", n)
	}
}
