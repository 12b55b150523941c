package eventstore_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestAnEventWithoutACauseIsRefused(t *testing.T) {
	s := eventstore.Open(eventstoretest.Pool(t, eventstoretest.URL(t)), facts, eventstoretest.Keys(t))
	eventstore.Serve(s, "till", tills)
	_, err := s.Execute(t.Context(), domain.Metadata{Actor: "system:test"}, putIn{"a", 1})
	if err == nil || !strings.Contains(err.Error(), "no cause") {
		t.Errorf("a command is carried out: %v", err)
	}
	if _, err = s.Append(t.Context(), domain.Metadata{}, tillStream("b"), 0, nil, coinsPut{1}); err == nil ||
		!strings.Contains(err.Error(), "no cause") {
		t.Errorf("an event is appended: %v", err)
	}
	unreadable := domain.DeadlineCause(tillStream("a"), 0) // no event has this version
	if _, err = s.Execute(t.Context(), domain.Metadata{Cause: unreadable}, putIn{"a", 1}); err == nil ||
		!strings.Contains(err.Error(), "no cause") {
		t.Errorf("a cause that cannot be read again is written: %v", err)
	}
	if head, _, err := s.Reader().Head(t.Context()); err != nil || head != 0 {
		t.Errorf("the log is at %d: %v", head, err)
	}
}

func TestWhatFollowsFromAnEventHasItForItsCauseAndItsCorrelation(t *testing.T) {
	s := newStore(t)
	request, trace := uuid.New(), "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	first := domain.Metadata{ID: request, Cause: domain.RequestCause(request), Request: request.String(), Traceparent: trace}
	executed(t.Context(), t, s, first, putIn{"a", 1}, putIn{"a", 2})
	begun := read(t, s, "a")
	executed(begun[1].Follow(t.Context()), t, s, domain.Metadata{Actor: "system:test"}, putIn{"b", 1})
	then := read(t, s, "b")[0].Metadata
	if then.Cause.String() != "event:till-a/2" || then.Correlation != request || then.Request != "" {
		t.Errorf("what follows has %+v", then)
	}
	if m := begun[0].Metadata; m.Cause != first.Cause || m.Correlation != request || m.Request != first.Request || m.Traceparent != trace {
		t.Errorf("the first event has %+v", m)
	}
	if m := begun[1].Metadata; m.Cause != first.Cause || m.Request != first.Request || m.Traceparent != "" {
		t.Errorf("the second event has %+v", m)
	}
	executed(t.Context(), t, s, domain.Metadata{Cause: first.Cause, Request: "their-own-id"}, putIn{"c", 1})
	var meta []string
	err := s.Pool().QueryRow(t.Context(), `select array_agg(meta::text order by position) from events`).Scan(&meta)
	if err != nil || strings.Join(meta, " ") != `{"traceparent":"`+trace+`"} {} {} {"request":"their-own-id"}` {
		t.Errorf("stored is %q: %v", meta, err)
	}
}

func TestOneCommandThatTwoCausesAskForHasTheCauseOfTheFirst(t *testing.T) {
	s := newStore(t)
	command := domain.Metadata{ID: uuid.New()}
	for _, c := range []domain.Cause{domain.WebhookCause("stripe", "evt_1"), domain.DeadlineCause(tillStream("a"), 1)} {
		executed(domain.Origin{Cause: c}.With(t.Context()), t, s, command, putIn{"a", 1})
	}
	if history := read(t, s, "a"); len(history) != 1 || history[0].Metadata.Cause.String() != "webhook:stripe/evt_1" {
		t.Errorf("the history is %+v", history)
	}
}

func executed(ctx context.Context, t *testing.T, s *eventstore.Store, m domain.Metadata, commands ...domain.Command) {
	t.Helper()
	if _, err := s.Execute(ctx, m, commands...); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s *eventstore.Store, till string) []eventstore.RecordedEvent {
	t.Helper()
	history, err := s.Read(t.Context(), tillStream(till))
	if err != nil {
		t.Fatal(err)
	}
	return history
}
