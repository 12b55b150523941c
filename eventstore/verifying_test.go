package eventstore_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A watched log is one of ten events that is verified in parts of four, as
// often as a test wants.
type watched struct {
	*eventstore.Store
	t     *testing.T
	url   string
	owner *pgxpool.Pool
}

func newWatched(t *testing.T) watched {
	t.Helper()
	w := watched{t: t, url: eventstoretest.URL(t)}
	w.owner = eventstoretest.Owner(t, w.url)
	w.Store = w.process()
	for i := range 10 {
		do(t, w.Store, putIn{fmt.Sprint(i % 2), 1})
	}
	return w
}

// process is one more that works on the log.
func (w watched) process() *eventstore.Store {
	s := eventstore.Open(eventstoretest.Pool(w.t, w.url), facts, eventstoretest.Keys(w.t), eventstoretest.Caused())
	eventstore.Serve(s, "till", tills)
	return s
}

func (w watched) sql(sql string) {
	w.t.Helper()
	if _, err := w.owner.Exec(w.t.Context(), sql); err != nil {
		w.t.Fatal(err)
	}
}

// forge changes the log as only its owner can.
func (w watched) forge(sql string) {
	w.t.Helper()
	w.sql(`alter table events disable trigger user; ` + sql + `; alter table events enable trigger user`)
}

func (w watched) due() { w.sql(`update log_verification set next_at = now()`) }

var everyFour = eventstore.Pace{Events: 4, Pause: time.Hour, Rest: 24 * time.Hour}

// next checks a part that is due.
func (w watched) next() (found []eventstore.Broken) {
	w.t.Helper()
	w.due()
	worked, err := w.Reader().VerifyNext(w.t.Context(), everyFour, func(b eventstore.Broken) error { found = append(found, b); return nil })
	if err != nil || !worked {
		w.t.Fatal(worked, err)
	}
	return found
}

// round checks until the end is reached.
func (w watched) round() (found []eventstore.Broken) {
	w.t.Helper()
	before := w.verified().VerifiedAt
	for range 20 {
		found = append(found, w.next()...)
		if at := w.verified().VerifiedAt; at != nil && (before == nil || at.After(*before)) {
			return found
		}
	}
	w.t.Fatal("the end is not reached")
	return nil
}

func (w watched) verified() eventstore.Verification {
	w.t.Helper()
	v, err := w.Reader().Verification(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func (w watched) equal(got, want any) {
	w.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheLogIsVerifiedPartByPartAndGoesOnWhereItStopped(t *testing.T) {
	w := newWatched(t)
	never := func(eventstore.Broken) error { t.Error("nothing is broken"); return nil }
	for _, position := range []int64{4, 8, 10} {
		w.equal(w.next(), []eventstore.Broken{})
		w.equal(w.verified().Position, position)
		if worked, err := w.process().Reader().VerifyNext(t.Context(), everyFour, never); worked || err != nil {
			t.Errorf("there is a pause for all: %t, %v", worked, err)
		}
	}
	if w.verified().VerifiedAt == nil {
		t.Error("it came to the end")
	}
	w.equal(w.next(), []eventstore.Broken{})
	w.equal(w.verified().Position, 4) // from the beginning
}

// A new log is verified as soon as it has an event.
func TestANewLogIsVerifiedAtOnce(t *testing.T) {
	w := watched{t: t, url: eventstoretest.URL(t)}
	w.owner = eventstoretest.Owner(t, w.url)
	w.Store = w.process()
	next := func() bool {
		worked, err := w.Reader().VerifyNext(t.Context(), everyFour, func(eventstore.Broken) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return worked
	}
	w.equal(next(), false)
	do(t, w.Store, putIn{"1", 1})
	w.equal(next(), true)
	w.equal(w.verified().Position, 1)
	w.equal(w.verified().VerifiedAt != nil, true)
	w.equal(next(), false) // until the rest is over
}

func TestTheBackgroundFindsWhatTheOwnerHasChanged(t *testing.T) {
	for forged, want := range map[string][]eventstore.Broken{
		`update events set data = '{"coins":1000}' where position in (6, 7)`: {
			{Position: 6, Stream: "till-1", Reason: "the hash does not match what is stored"},
			{Position: 7, Stream: "till-0", Reason: "the hash does not match what is stored"},
		},
		`delete from events where position = 5`: {
			{Position: 5, Stream: "till-1", Reason: "a position is missing"},
			{Position: 7, Stream: "till-0", Reason: "a version of the stream is missing"},
		},
		`update events set recorded_at = 'epoch' where position = 9`: {{Position: 9, Stream: "till-0", Reason: "the time runs back"}},
		`update events set position = -position where position in (3, 5); update events set position = 8 + position
			where position in (-3, -5)`: {
			{Position: 3, Stream: "till-0", Reason: "a version of the stream is missing"}, // and what follows from that
		},
	} {
		w := newWatched(t)
		w.forge(forged)
		w.equal(w.round()[:len(want)], want)
		w.equal(w.verified().Broken > 0, true)
		verdict, err := w.Reader().Verify(t.Context(), nil)
		if err != nil || verdict.Intact || verdict.Broken != want[0].Position || verdict.Reason != want[0].Reason {
			t.Errorf("%s: all at once: %+v, %v", forged, verdict, err)
		}
	}
}

func TestAnEndThatWasCutOffIsMissed(t *testing.T) {
	w := newWatched(t)
	w.equal(w.round(), []eventstore.Broken{})
	w.forge(`delete from events where position > 8`)
	w.equal(w.round(), []eventstore.Broken{{Position: 10, Reason: "it was there when the log was verified, and is missing"}})
	w.equal(w.round(), []eventstore.Broken{}) // and told once: what is left fits together
}

func TestAnEndThatWasWrittenAnewIsNoticed(t *testing.T) {
	w := newWatched(t)
	w.equal(w.round(), []eventstore.Broken{})
	w.forge(`delete from events where position > 9`)
	do(t, w.process(), putIn{"1", 7}) // which fits, but was not the tenth
	w.equal(w.round(), []eventstore.Broken{{Position: 10, Stream: "till-1", Reason: "it is another one than when the log was verified"}})
}

func TestWhatCouldNotBeToldIsCheckedAgain(t *testing.T) {
	w := newWatched(t)
	w.forge(`update events set data = '{"coins":1000}' where position = 2`)
	w.due()
	down := errors.New("no server listens")
	if worked, err := w.Reader().VerifyNext(t.Context(), everyFour, func(eventstore.Broken) error { return down }); worked ||
		!errors.Is(err, down) {
		t.Error(worked, err)
	}
	w.equal(w.verified().Position, 0)
	w.equal(len(w.next()), 1)
}

func TestOneProcessVerifiesAtATime(t *testing.T) {
	w := newWatched(t)
	w.forge(`update events set data = '{"coins":1000}' where position = 2`)
	w.due()
	others, told := w.process(), 0
	worked, err := w.Reader().VerifyNext(t.Context(), everyFour, func(eventstore.Broken) error {
		told++
		var all sync.WaitGroup
		defer all.Wait()
		for range 4 {
			all.Go(func() {
				if worked, err := others.Reader().VerifyNext(
					t.Context(), everyFour, func(eventstore.Broken) error { return nil },
				); worked || err != nil {
					t.Errorf("another one verifies too: %t, %v", worked, err)
				}
			})
		}
		return nil
	})
	if !worked || err != nil || told != 1 {
		t.Error(worked, err, told)
	}
}
