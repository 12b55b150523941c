package sealing_test

import (
	"errors"
	"testing"

	"hostpanel/eventstore/sealing"
)

func keyring(t testing.TB, list string) *sealing.Keyring {
	t.Helper()
	keys, err := sealing.ParseKeyring(list)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestAllKeysAreDerivedAndTheFirstSigns(t *testing.T) {
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
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

func TestAnOldKeyOpensWhatANewOneDoesNotSeal(t *testing.T) {
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, _ := sealing.ParseKeyring(old)
	after, _ := sealing.ParseKeyring(fresh + "," + old)
	box := before.Seal("p", "c", []byte("text"))
	if text, err := after.Open("p", "c", box); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := before.Open("p", "c", after.Seal("p", "c", []byte("text"))); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("%v", err)
	}
	if _, err := before.Open("p", "elsewhere", box); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("moved to another place: %v", err)
	}
	if _, err := sealing.ParseKeyring("c2hvcnQ="); err == nil {
		t.Error("a short key is accepted")
	}
}
