package eventstore_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

// A rotation, step by step, and who may start at each step.
func TestAProcessStartsOnlyWithTheKeysThatTheDatabaseNeeds(t *testing.T) {
	url := eventstoretest.URL(t)
	pool := eventstoretest.Pool(t, url)
	old, fresh, other := sealing.NewSecretKey(), sealing.NewSecretKey(), sealing.NewSecretKey()
	secrets := map[string]string{"old": old, "new": fresh, "other": other}
	ring := func(names string) *sealing.Keyring {
		var list []string
		for name := range strings.SplitSeq(names, ",") {
			list = append(list, secrets[name])
		}
		return keyring(t, strings.Join(list, ","))
	}
	writes := func(names string) *eventstore.Store {
		s := eventstore.Open(pool, facts, ring(names), eventstoretest.Caused())
		eventstore.Serve(s, "till", tills)
		do(t, s, open{uuid.NewString(), "Ana", uuid.New()})
		return s
	}
	starts := func(step, names string, may bool) {
		t.Helper()
		err := eventstore.CheckSecretKeys(t.Context(), pool, ring(names))
		if may != (err == nil) || err != nil && !errors.Is(err, eventstore.ErrSecretKey) {
			t.Errorf("%s: a process with %s: %v", step, names, err)
		}
		if err != nil && !strings.Contains(err.Error(), ring(strings.Split(names, ",")[0]).IDs()[0]) {
			t.Errorf("%s: the refusal of %s does not name the key: %v", step, names, err)
		}
	}
	starts("a new database", "old", true)
	starts("before anything is sealed", "other", false)
	writes("old")
	starts("before", "other", false)
	starts("before", "other,new", false)
	starts("before", "new", false)

	starts("step 1", "old,new", true)
	starts("step 1", "old", true) // which was not restarted yet
	starts("step 1", "new", false)

	starts("step 2", "new,old", true)
	starts("step 2", "old,new", true) // which follows
	starts("step 2", "new,old", true)
	rotated := writes("new,old")
	starts("step 2", "old", false)
	starts("step 2", "new", false) // the old key still wraps
	starts("step 2", "other,old", false)

	if err := rotated.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	starts("step 3", "old", false)
	starts("step 4", "new", true)
	starts("after", "old", false)
	starts("after", "new,old", true)
	starts("after", "other", false)
}

// A database from before the keys were recorded tells them by what is sealed.
func TestADatabaseWithoutRecordedKeysRefusesAnotherKeyToo(t *testing.T) {
	url := eventstoretest.URL(t)
	pool, keys := eventstoretest.Pool(t, url), keyring(t, sealing.NewSecretKey())
	s := eventstore.Open(pool, facts, keys, eventstoretest.Caused())
	eventstore.Serve(s, "till", tills)
	do(t, s, open{"a", "Ana", uuid.New()})
	if err := eventstore.CheckSecretKeys(t.Context(), pool, keyring(t, sealing.NewSecretKey())); !errors.Is(err, eventstore.ErrSecretKey) {
		t.Errorf("another key: %v", err)
	}
	if err := eventstore.CheckSecretKeys(t.Context(), pool, keys); err != nil {
		t.Error(err)
	}
}

// What was sealed with a lost key can be given up. It reads as erased, and a
// process with a new key starts.
func TestALostKeyCanBeForgotten(t *testing.T) {
	url := eventstoretest.URL(t)
	pool, lost, keys := eventstoretest.Pool(t, url), keyring(t, sealing.NewSecretKey()), keyring(t, sealing.NewSecretKey())
	before := eventstore.Open(pool, facts, lost, eventstoretest.Caused())
	eventstore.Serve(before, "till", tills)
	if err := eventstore.CheckSecretKeys(t.Context(), pool, lost); err != nil {
		t.Fatal(err)
	}
	do(t, before, open{"a", "Ana", uuid.New()})
	if gone, err := eventstore.ForgetSecretKey(t.Context(), pool, lost.IDs()[0]); err != nil || gone.People != 1 {
		t.Fatal(gone, err)
	}
	if err := eventstore.CheckSecretKeys(t.Context(), pool, keys); err != nil {
		t.Fatal(err)
	}
	after := eventstore.Open(pool, facts, keys, eventstoretest.Caused())
	if history, err := after.Read(t.Context(), tillStream("a")); err != nil || history[0].Event.(tillOpened).Owner != "" {
		t.Errorf("%+v, %v", history, err)
	}
	listed, err := eventstore.SecretKeys(t.Context(), pool, keys)
	if err != nil || len(listed) != 1 || !listed[0].Newest || listed[0].Place != 1 {
		t.Errorf("%+v, %v", listed, err)
	}
}
