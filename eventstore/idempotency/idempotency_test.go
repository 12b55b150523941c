package idempotency_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/sealing"
)

// A box is a stream into which things are put.
type (
	put      struct{ Box string }
	thingPut struct{}
)

func (p put) Stream() domain.Stream { return domain.Stream{Category: "box", ID: p.Box} }
func (thingPut) EventName() string  { return "box.thing_put" }
func (thingPut) Says() string       { return "a thing was put in" }

var boxes = domain.Decider[int, put, thingPut]{
	Decide: func(int, put) ([]thingPut, error) { return []thingPut{{}}, nil },
	Evolve: func(n int, _ thingPut) int { return n + 1 },
}

var eventTypes = domain.NewCatalogue([]domain.EventType{domain.Register[thingPut]()})

func newStore(t *testing.T) *eventstore.Store {
	t.Helper()
	s := eventstoretest.Store(t, eventTypes, eventstore.WithIdempotencyKeys(idempotency.Statement))
	eventstore.Serve(s, "box", boxes)
	return s
}

func TestAKeyBindsOneRequest(t *testing.T) {
	s := newStore(t)
	keys := idempotency.Open(s.Pool(), s.Keys())
	key := domain.IdempotencyKey{
		Principal: "api_key:1", Method: "POST", Path: "/o/", Key: "k1", Fingerprints: [][]byte{[]byte("f")},
		Status: 201, Location: "/o/1/", Keep: domain.KeepDay,
	}
	state := func(k domain.IdempotencyKey) domain.Replay {
		t.Helper()
		r, err := keys.Look(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := state(key).State; got != domain.ReplayFree {
		t.Errorf("before: %s", got)
	}
	ran := 0
	for range 3 {
		_, err := s.Execute(t.Context(), domain.Metadata{IdempotencyKey: &key}, put{uuid.NewString()})
		if err == nil {
			ran++
		} else if !errors.Is(err, idempotency.ErrInProgress) {
			t.Error(err)
		}
	}
	if head, _, _ := s.Reader().Head(t.Context()); ran != 1 || head != 1 {
		t.Errorf("%d requests ran and left %d facts", ran, head)
	}
	if got := state(key).State; got != domain.ReplayRunning {
		t.Errorf("while it runs: %s", got)
	}
	elsewhere := key
	if elsewhere.Tenant = 7; state(elsewhere).State != domain.ReplayFree {
		t.Error("the key is taken in another tenant, too")
	}
	if err := keys.Release(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if got := state(key); got.State != domain.ReplayOpen || got.Location != "/o/1/" {
		t.Errorf("broken off: %+v", got)
	}
	if err := keys.Finish(t.Context(), key, 201, `"o-1"`, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if got := state(key); got.State != domain.ReplayFinished || got.ETag != `"o-1"` || string(got.Body) != `{}` {
		t.Errorf("finished: %+v", got)
	}
	other := key
	other.Fingerprints = [][]byte{[]byte("g")}
	if got := state(other).State; got != domain.ReplayReused {
		t.Errorf("another request under the key: %s", got)
	}
	other.Principal = "api_key:2"
	if got := state(other).State; got != domain.ReplayFree {
		t.Errorf("another principal's key: %s", got)
	}
}

func TestAKeyIsRecognisedAfterARotation(t *testing.T) {
	url := eventstoretest.URL(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	process := func(list string) (*eventstore.Store, *idempotency.Keys) {
		ring, err := sealing.ParseKeyring(list)
		if err != nil {
			t.Fatal(err)
		}
		s := eventstore.Open(
			eventstoretest.Pool(t, url), eventTypes, ring, eventstore.WithIdempotencyKeys(idempotency.Statement),
			eventstoretest.Caused(),
		)
		eventstore.Serve(s, "box", boxes)
		return s, idempotency.Open(s.Pool(), ring)
	}
	before, keys := process(old)
	request := func(keys *idempotency.Keys, body string) domain.IdempotencyKey {
		return domain.IdempotencyKey{
			Principal: "user:12", Method: "POST", Path: "/o/", Key: "k", Status: 201, Keep: domain.KeepDay,
			Fingerprints: keys.Fingerprints([]byte("POST"), []byte(body)),
		}
	}
	key := request(keys, "body")
	if _, err := before.Execute(t.Context(), domain.Metadata{IdempotencyKey: &key}, put{"b"}); err != nil {
		t.Fatal(err)
	}
	_, keys = process(fresh + "," + old)
	for body, want := range map[string]domain.ReplayState{"body": domain.ReplayRunning, "another body": domain.ReplayReused} {
		if replay, err := keys.Look(t.Context(), request(keys, body)); err != nil || replay.State != want {
			t.Errorf("%s: %+v, %v", body, replay, err)
		}
	}
}

func TestTheSweepDeletesExpiredKeys(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"old", "new"} {
		key := domain.IdempotencyKey{Key: name, Fingerprints: [][]byte{{1}}, Location: name, Keep: domain.KeepDay}
		if _, err := s.Execute(t.Context(), domain.Metadata{IdempotencyKey: &key}, put{name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Pool().Exec(
		t.Context(), `update once_keys set expires_at = now() - interval '1 second' where location = 'old'`,
	); err != nil {
		t.Fatal(err)
	}
	if err := idempotency.Open(s.Pool(), s.Keys()).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left string
	if err := s.Pool().QueryRow(t.Context(), `select string_agg(location, ',') from once_keys`).Scan(&left); err != nil || left != "new" {
		t.Errorf("%q are left, %v", left, err)
	}
}
