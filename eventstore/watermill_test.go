package eventstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func follow(t *testing.T, s *eventstore.Store, reader string) <-chan *message.Message {
	t.Helper()
	sub, err := s.Subscriber(reader, eventstore.ReaderOptions{Poll: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sub.Close(); err != nil {
			t.Error(err)
		}
	})
	messages, err := sub.Subscribe(t.Context(), eventstore.Topic)
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

func next(t *testing.T, messages <-chan *message.Message) *message.Message {
	t.Helper()
	select {
	case m := <-messages:
		return m
	case <-time.After(time.Minute):
		t.Fatal("no message came")
		return nil
	}
}

func TestAReaderSeesEveryEventInOrder(t *testing.T) {
	s := newStore(t)
	messages := follow(t, s, "reader")
	const writers, each = 10, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for range each {
				do(t, s, putIn{fmt.Sprint(w), 1})
			}
		})
	}
	for i := range int64(writers * each) {
		m := next(t, messages)
		r, err := s.FromMessage(t.Context(), m)
		if err != nil || r.Position != i+1 || r.Name != "till.coins_put" || r.Metadata.Actor != "system:test" || r.Tenant != 7 {
			t.Fatalf("event %d is %+v (%v)", i+1, r, err)
		}
		m.Ack()
	}
	wg.Wait()
}

func TestASlowReaderDelaysNoOther(t *testing.T) {
	s := newStore(t)
	slow, fast := follow(t, s, "slow"), follow(t, s, "fast")
	do(t, s, putIn{"a", 1})
	held := next(t, slow)
	next(t, fast).Ack()
	do(t, s, putIn{"a", 1})
	next(t, fast).Ack() // while slow is still at its first
	held.Ack()
	next(t, slow).Ack()
}

// Two processes share a reader: one works, the other does not wait for it,
// and when the first is gone the other takes over.
func TestProcessesShareAReader(t *testing.T) {
	s := newStore(t)
	other := eventstore.Open(s.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
	ctx, leave := context.WithCancel(t.Context())
	sub, err := s.Subscriber("shared", eventstore.ReaderOptions{Poll: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	first, err := sub.Subscribe(ctx, eventstore.Topic)
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, putIn{"a", 1}, putIn{"a", 2})
	held := next(t, first)
	second := follow(t, other, "shared")
	select {
	case <-second:
		t.Fatal("both work at once")
	case <-time.After(200 * time.Millisecond):
	}
	held.Nack()
	leave()
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	for want := range int64(2) {
		m := next(t, second)
		if r, err := other.FromMessage(t.Context(), m); err != nil || r.Position != want+1 {
			t.Errorf("took over at %d, want %d (%v)", r.Position, want+1, err)
		}
		m.Ack()
	}
}

// An append in another process wakes those who wait, by NOTIFY.
func TestAppendsElsewhereWakeReaders(t *testing.T) {
	here := newStore(t)
	elsewhere := eventstore.Open(here.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
	eventstore.Serve(elsewhere, "till", tills)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { here.Hints().Follow(ctx) })
	wg.Go(func() { elsewhere.Hints().Follow(ctx) })
	defer wg.Wait()
	defer stop()
	deadline := time.After(time.Minute)
	for {
		changed := here.Changed()
		do(t, elsewhere, putIn{"a", 1})
		select {
		case <-changed:
			return
		case <-time.After(50 * time.Millisecond): // not listening yet: once more
		case <-deadline:
			t.Fatal("never woken")
		}
	}
}

// W-5: a handler that takes longer than the deadline is told to stop, and its event
// comes again.
func TestAHandlerPastItsDeadlineGetsTheEventAgain(t *testing.T) {
	s := newStore(t)
	sub, err := s.Subscriber("late", eventstore.ReaderOptions{Poll: 100 * time.Millisecond, AckDeadline: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Close() })
	messages, err := sub.Subscribe(t.Context(), eventstore.Topic)
	if err != nil {
		t.Fatal(err)
	}
	do(t, s, putIn{"a", 1})
	first := next(t, messages)
	<-first.Context().Done()
	again := next(t, messages)
	if again.UUID != first.UUID {
		t.Errorf("%s came after %s", again.UUID, first.UUID)
	}
	again.Ack()
}
