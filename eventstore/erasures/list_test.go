package erasures_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"hostpanel/eventstore/erasures"
	"hostpanel/eventstore/tlog"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 123000, time.UTC)

// newSigner draws the key of a log.
func newSigner(t *testing.T, name string) (note.Signer, string) {
	t.Helper()
	secret, vkey, err := tlog.NewKey(name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer, vkey
}

func signed(t *testing.T, l erasures.List, by ...note.Signer) []byte {
	t.Helper()
	text, err := l.Sign(by...)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func listOf(vkeys []string, subjects ...uuid.UUID) erasures.List {
	l := erasures.List{Origin: "panel.example/audit/log", Keys: vkeys, Until: noon, Position: 77}
	for i, s := range subjects {
		l.Erasures = append(l.Erasures, erasures.Erasure{Subject: s, At: noon.Add(time.Duration(i-100) * time.Minute)})
	}
	return l
}

// Any changed, missing or added byte of a list is found, and so is an end that was cut off.
func TestAForgedOrCutListOfErasuresIsRefused(t *testing.T) {
	t.Parallel()
	first, vkey := newSigner(t, "panel.example/audit/log")
	second, vkey2 := newSigner(t, "panel.example/audit/log/2")
	l := listOf([]string{vkey, vkey2}, uuid.New(), uuid.New(), uuid.New())
	text := signed(t, l, first, second)
	got, err := erasures.Parse(text)
	if err != nil || !slices.Equal(got.Erasures, l.Erasures) || !got.Newest().Equal(noon) || got.Position != 77 || got.Origin != l.Origin {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := errors.Join(got.SignedBy([]string{vkey}), got.SignedBy([]string{"another", vkey2})); err != nil {
		t.Error(err)
	}
	if err := got.SignedBy([]string{"another"}); !errors.Is(err, erasures.ErrOther) {
		t.Errorf("a list of another log: %v", err)
	}
	refused := func(what string, changed []byte) {
		t.Helper()
		if got, err := erasures.Parse(changed); !errors.Is(err, erasures.ErrList) {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	for at := range text {
		changed := slices.Clone(text)
		changed[at] ^= byte(1 << (at % 7))
		refused("a changed byte", changed)
		refused("cut off", text[:at])
		refused("a missing byte", slices.Delete(slices.Clone(text), at, at+1))
	}
	refused("a line more", append(slices.Clone(text), uuid.NewString()+" 2026-05-01T12:00:00Z\n"...))
	refused("one signature alone", signed(t, l, first))
	empty := listOf([]string{vkey})
	if got, err := erasures.Parse(signed(t, empty, first)); err != nil || len(got.Erasures) != 0 {
		t.Errorf("no person is erased: %+v, %v", got, err)
	}
	if _, err := erasures.Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Lists of several machines together are the union, whichever is newer.
func TestListsOfErasuresMerge(t *testing.T) {
	t.Parallel()
	a, b, c := uuid.New(), uuid.New(), uuid.New()
	one, other := listOf([]string{"k1"}, a, b), listOf([]string{"k1", "k2"}, b, c)
	other.Until, other.Position = noon.Add(time.Hour), 90
	for _, all := range []erasures.List{
		erasures.Merge(one, other), erasures.Merge(other, one), erasures.Merge(one, erasures.List{}, other, one),
	} {
		subjects := []string{}
		for _, e := range all.Erasures {
			subjects = append(subjects, e.Subject.String())
		}
		slices.Sort(subjects)
		want := []string{a.String(), b.String(), c.String()}
		slices.Sort(want)
		if !slices.Equal(subjects, want) || !all.Newest().Equal(other.Until) || all.Position != 90 ||
			strings.Join(all.Keys, " ") != "k1 k2" {
			t.Errorf("%+v", all)
		}
		for _, e := range all.Erasures {
			if e.Subject == b && !e.At.Equal(other.Erasures[0].At) {
				t.Errorf("erased at %s, first at %s", e.At, other.Erasures[0].At)
			}
		}
	}
}
