package eventstore_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func keyring(t *testing.T, list string) *eventstore.Keyring {
	t.Helper()
	keys, err := eventstore.ParseKeyring(list)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAllKeysAreDerivedAndTheFirstSigns(t *testing.T) {
	old, fresh := eventstore.NewSecretKey(), eventstore.NewSecretKey()
	before, after := keyring(t, old).DeriveAll("tokens"), keyring(t, fresh+","+old).DeriveAll("tokens")
	if len(before) != 1 || len(after) != 2 {
		t.Fatalf("%d and %d keys", len(before), len(after))
	}
	if after[1].ID != before[0].ID || string(after[1].Key) != string(before[0].Key) {
		t.Error("what the old key signed is not verified after the rotation")
	}
	if after[0].ID == after[1].ID || string(after[0].Key) == string(after[1].Key) || len(after[0].Key) != 32 {
		t.Errorf("%+v", after)
	}
	if other := keyring(t, old).DeriveAll("sessions"); string(other[0].Key) == string(before[0].Key) {
		t.Error("two purposes share a key")
	}
}

// A key is replaced while the panel works: a new one is put first, and all
// that was made with the old one goes on.
func TestWhatWasMadeWithTheOldKeyOutlivesItsRotation(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) *eventstore.Store {
		s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys))
		eventstore.Serve(s, "till", tills)
		return s
	}
	old, fresh := eventstore.NewSecretKey(), eventstore.NewSecretKey()
	before, after := process(old), process(fresh+","+old)

	subject, err := before.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	do(t, before, open{"a", "Ana", subject})
	if _, err := before.ExecuteWith(t.Context(), domain.Cause{}, []eventstore.Row{before.HandOff("ftp", "e1", []byte("s3cret"), time.Hour)}); err != nil {
		t.Fatal(err)
	}
	request := func(s *eventstore.Store, body string) domain.OnceKey {
		return domain.OnceKey{
			Principal: "user:12", Method: "POST", Path: "/o/", Key: "k", Status: 201, Keep: domain.KeepDay,
			Fingerprints: s.Fingerprints([]byte("POST"), []byte(body)),
		}
	}
	key := request(before, "body")
	if _, err := before.Execute(t.Context(), domain.Cause{Key: &key}, putIn{"b", 1}); err != nil {
		t.Fatal(err)
	}

	if again, err := after.Subject(t.Context(), "ana@example.com"); err != nil || again != subject {
		t.Errorf("the subject of the address is %s, was %s, %v", again, subject, err)
	}
	do(t, after, open{"c", "Ana Ruiz", subject})
	for till, want := range map[string]string{"a": "Ana", "c": "Ana Ruiz"} {
		if history, err := after.Read(t.Context(), tillStream(till)); err != nil || history[0].Event.(tillOpened).Owner != want {
			t.Errorf("%+v, %v", history, err)
		}
	}
	if secret, err := after.OpenHandOff(t.Context(), "ftp", "e1"); err != nil || string(secret) != "s3cret" {
		t.Errorf("the secret on its way: %q, %v", secret, err)
	}
	for body, want := range map[string]domain.ReplayState{"body": domain.ReplayRunning, "another body": domain.ReplayReused} {
		if replay, err := after.Look(t.Context(), request(after, body)); err != nil || replay.State != want {
			t.Errorf("%s: %+v, %v", body, replay, err)
		}
	}
}

// The janitor takes keys of people along; an address that is seen again is
// found under the new key from then on. So the old key can go some day.
func TestTheOldKeyIsNotNeededForEver(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) *eventstore.Store {
		s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys))
		eventstore.Serve(s, "till", tills)
		return s
	}
	old, fresh := eventstore.NewSecretKey(), eventstore.NewSecretKey()
	before, during := process(old), process(fresh+","+old)
	ana, err := before.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	ben := uuid.New()
	do(t, before, open{"a", "Ana", ana}, open{"b", "Ben", ben})
	if _, err := before.ExecuteWith(t.Context(), domain.Cause{}, eventstore.EraseRows(ben)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if again, err := during.Subject(t.Context(), "ANA@example.com"); err != nil || again != ana {
			t.Errorf("%s, %v", again, err)
		}
		if err := during.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	after := process(fresh)
	if got := owner(t, after, "a") + owner(t, after, "b"); got != "Ana" {
		t.Errorf("the log reads %q", got)
	}
	if again, err := after.Subject(t.Context(), "ana@example.com"); err != nil || again != ana {
		t.Errorf("%s, %v", again, err)
	}
}

// Whoever removes the old key too early is told so, and not shown blanks.
func TestAMissingKeyIsNoErasure(t *testing.T) {
	url := eventstoretest.URL(t)
	before := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, eventstore.NewSecretKey()))
	eventstore.Serve(before, "till", tills)
	do(t, before, open{"a", "Ana", uuid.New()})
	after := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, eventstore.NewSecretKey()))
	if history, err := after.Read(t.Context(), tillStream("a")); err == nil {
		t.Errorf("read as %+v", history)
	}
}
