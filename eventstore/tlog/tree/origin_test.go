package tree_test

import (
	"errors"
	"testing"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog/tree"
)

// The secret key is replaced: the log's key, and with it the vkey, stays.
func TestARotationKeepsTheKeyOfTheLog(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 5)
	s := l.process()
	sealAll(t, s)
	before := l.current(s)
	fresh, old := sealing.NewSecretKey(), l.keys
	l.keys = eventstoretest.RotatedKeys(t)
	pool := eventstoretest.Pool(t, l.url)
	if err := tree.Reseal(t.Context(), pool, l.keys); err != nil {
		t.Fatal(err)
	}
	used, err := eventstore.SecretKeys(t.Context(), pool, l.keys)
	if err != nil || used[0].Logs != 1 || used[1].Logs != 0 {
		t.Errorf("%+v, %v", used, err)
	}
	l.add(5)
	if n := sealAll(t, l.process()); n != 5 || l.current(s).VKey != before.VKey {
		t.Errorf("%d events, %s was %s", n, l.current(s).VKey, before.VKey)
	}
	l.whole(s, 10)
	l.add(1)
	l.keys = old
	if _, err := l.process().Seal(t.Context()); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("without its key: %v", err)
	}
	ring, err := sealing.ParseKeyring(fresh)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Reseal(t.Context(), pool, ring); err != nil {
		t.Error(err)
	}
}

// A log whose key is lost for good goes on as another origin.
func TestALogWhoseKeyIsLostBeginsAnew(t *testing.T) {
	t.Parallel()
	l := newLogged(t, 5)
	s := l.process()
	sealAll(t, s)
	before := l.current(s)
	if gone, err := eventstore.ForgetSecretKey(t.Context(), eventstoretest.Pool(t, l.url), l.keys.IDs()[0]); err != nil || gone.Logs != 1 {
		t.Fatal(gone, err)
	}
	if n := sealAll(t, s); n != 5 {
		t.Errorf("%d events are sealed", n)
	}
	after := l.current(s)
	if after.Number != 2 || after.Name != "panel.example/audit/log/2" || after.VKey == before.VKey || after.Reason == "" {
		t.Errorf("%+v", after)
	}
	l.whole(s, 5)
	third, err := s.BeginAnew(t.Context(), "a test")
	if err != nil || third.Name != "panel.example/audit/log/3" {
		t.Errorf("%+v, %v", third, err)
	}
	all, err := s.Origins(t.Context())
	if err != nil || len(all) != 3 || all[0].Checkpoint != before.Checkpoint {
		t.Errorf("%+v, %v", all, err)
	}
}
