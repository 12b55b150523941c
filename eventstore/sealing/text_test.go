package sealing_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore/sealing"
)

var (
	ana   = uuid.MustParse("9f8b0c1e-6d3a-4a51-8a55-0c7a4d8e2b11")
	key   = bytes.Repeat([]byte{7}, 32)
	place = sealing.Place{Kind: "event", ID: "5ba9e1d5-27bc-5b7e-9e51-0d5f5c1a3f10", Pointer: "/a:b/0"}
)

func seal(clear string) string { return sealing.Seal(key, ana, domain.Contact, place, clear) }

func parse(t *testing.T, stored string) sealing.Text {
	t.Helper()
	text, err := sealing.Parse(stored)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestASealedTextNamesAllThatOpensIt(t *testing.T) {
	for _, clear := range []string{"", "Ana", "sealed:1:", "ü\x00\"", strings.Repeat("long ", 1000)} {
		text := parse(t, seal(clear))
		if text.Subject != ana || text.Purpose != domain.Contact || text.Place != place {
			t.Errorf("%+v", text)
		}
		if got, err := text.Open(text.Key(key)); err != nil || got != clear {
			t.Errorf("%q reads as %q, %v", clear, got, err)
		}
	}
}

// An auditor is given the key of one text. It opens that text and no other one.
func TestTheKeyOfATextOpensThatTextAlone(t *testing.T) {
	text := parse(t, seal("Ana"))
	given := text.Key(key)
	if got, err := text.Open(given); err != nil || got != "Ana" {
		t.Errorf("%q, %v", got, err)
	}
	elsewhere := sealing.Place{Kind: place.Kind, ID: place.ID, Pointer: "/a:b/1"}
	other := parse(t, sealing.Seal(key, ana, domain.Contact, elsewhere, "Ruiz"))
	document := parse(
		t,
		sealing.Seal(key, ana, domain.Contact, sealing.Place{Kind: "document", ID: place.ID, Pointer: place.Pointer}, "Ruiz"),
	)
	for _, other := range []sealing.Text{other, document} {
		if _, err := other.Open(given); !errors.Is(err, sealing.ErrBroken) {
			t.Errorf("the key of another text: %v", err)
		}
	}
}

// Two parts that meet at another boundary are another place.
func TestPlacesNeverShareAKey(t *testing.T) {
	one := parse(t, sealing.Seal(key, ana, domain.Contact, sealing.Place{Kind: "event", ID: "ab", Pointer: "/c"}, ""))
	two := parse(t, sealing.Seal(key, ana, domain.Contact, sealing.Place{Kind: "event", ID: "a", Pointer: "b/c"}, ""))
	if bytes.Equal(one.Key(key), two.Key(key)) {
		t.Error("two places share a key")
	}
}

func TestATextIsNeverSealedTheSameWayTwice(t *testing.T) {
	if first, second := seal("Ana"), seal("Ana"); first == second {
		t.Error("the nonce is not fresh")
	}
}

func TestAChangeOfAnyCharacterBreaksAText(t *testing.T) {
	stored := seal("Ana")
	for i := range stored {
		changed := []byte(stored)
		if changed[i]++; changed[i] == ':' || stored[i] == ':' {
			continue // the parts would be others
		}
		text, err := sealing.Parse(string(changed))
		if err == nil {
			_, err = text.Open(text.Key(key))
		}
		if !errors.Is(err, sealing.ErrBroken) {
			t.Errorf("with %q in place of %q at %d: %v", changed[i], stored[i], i, err)
		}
	}
	for _, stored := range []string{
		"", "Ana", "sealed:", "sealed:1:", stored[:len(stored)-40], "sealed:2:" + stored[9:], stored + "!",
		":" + stored,
	} {
		if _, err := sealing.Parse(stored); !errors.Is(err, sealing.ErrBroken) {
			t.Errorf("%s: %v", stored, err)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	stored := seal("ana@example.com")
	b.ReportAllocs()
	for b.Loop() {
		text, err := sealing.Parse(stored)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := text.Open(text.Key(key)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		seal("ana@example.com")
	}
}
