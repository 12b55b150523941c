package eventstore_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

func keyring(t *testing.T, list string) *sealing.Keyring {
	t.Helper()
	keys, err := sealing.ParseKeyring(list)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// A key is rotated while the panel runs. Data sealed with the old key stays
// readable.
func TestWhatWasMadeWithTheOldKeyOutlivesItsRotation(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) *eventstore.Store {
		s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys), eventstoretest.Caused())
		eventstore.Serve(s, "till", tills)
		return s
	}
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, after := process(old), process(fresh+","+old)

	subject, err := before.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	do(t, before, open{"a", "Ana", subject})
	if again, err := after.Subject(t.Context(), "ana@example.com"); err != nil || again != subject {
		t.Errorf("the subject of the address is %s, was %s, %v", again, subject, err)
	}
	do(t, after, open{"c", "Ana Ruiz", subject})
	for till, want := range map[string]string{"a": "Ana", "c": "Ana Ruiz"} {
		if history, err := after.Read(t.Context(), tillStream(till)); err != nil || history[0].Event.(tillOpened).Owner != want {
			t.Errorf("%+v, %v", history, err)
		}
	}
}

// The janitor reseals the keys of subjects with the new key. A known address is
// then found by its new hash. The old key can be removed.
func TestTheOldKeyIsNotNeededForEver(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) *eventstore.Store {
		s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys), eventstoretest.Caused())
		eventstore.Serve(s, "till", tills)
		return s
	}
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, during := process(old), process(fresh+","+old)
	ana, err := before.Subject(t.Context(), "ana@example.com")
	if err != nil {
		t.Fatal(err)
	}
	cleo, err := before.Subject(t.Context(), "cleo@example.com") // who does not come again for years
	if err != nil {
		t.Fatal(err)
	}
	ben := uuid.New()
	do(t, before, open{"a", "Ana", ana}, open{"b", "Ben", ben})
	if _, err := before.ExecuteWith(t.Context(), domain.Metadata{}, eventstore.EraseRows(ben)); err != nil {
		t.Fatal(err)
	}
	stored := func() (data string) {
		if err := before.Pool().QueryRow(t.Context(), `select string_agg(data::text, '') from events`).Scan(&data); err != nil {
			t.Fatal(err)
		}
		return data
	}
	sealed := stored()
	for range 2 {
		if again, err := during.Subject(t.Context(), "ANA@example.com"); err != nil || again != ana {
			t.Errorf("%s, %v", again, err)
		}
		if err := during.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if stored() != sealed {
		t.Error("the rotation changed a sealed text")
	}
	after := process(fresh)
	if got := owner(t, after, "a") + owner(t, after, "b"); got != "Ana" {
		t.Errorf("the log reads %q", got)
	}
	for address, subject := range map[string]uuid.UUID{"ana@example.com": ana, "cleo@example.com": cleo} {
		if again, err := after.Subject(t.Context(), address); err != nil || again != subject {
			t.Errorf("%s was %s and is %s, %v", address, subject, again, err)
		}
	}
}

// Reading without the old key is an error. Erased fields would be blank instead.
func TestAMissingKeyIsNoErasure(t *testing.T) {
	url := eventstoretest.URL(t)
	before := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, sealing.NewSecretKey()), eventstoretest.Caused())
	eventstore.Serve(before, "till", tills)
	do(t, before, open{"a", "Ana", uuid.New()})
	after := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, sealing.NewSecretKey()), eventstoretest.Caused())
	if history, err := after.Read(t.Context(), tillStream("a")); err == nil {
		t.Errorf("read as %+v", history)
	}
}
