package sealing_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore/sealing"
)

// A file opens at its place with its key alone.
func TestAFileOpensWhereItWasSealed(t *testing.T) {
	key, subject := sealing.Random(32), uuid.New()
	place := sealing.Place{Kind: "document", ID: "INV-2026-000001", Pointer: "/pdf"}
	clear := bytes.Repeat([]byte("Ana Canary\x00"), 1000)
	sealed := sealing.SealFile(key, subject, domain.Fiscal, place, clear)
	if got, err := sealing.OpenFile(key, subject, domain.Fiscal, place, sealed); err != nil ||
		!bytes.Equal(got, clear) || bytes.Contains(sealed, []byte("Canary")) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, err := range map[string]error{
		"another key":     opens(sealing.Random(32), subject, domain.Fiscal, place, sealed),
		"another subject": opens(key, uuid.New(), domain.Fiscal, place, sealed),
		"another purpose": opens(key, subject, domain.Contact, place, sealed),
		"another number": opens(
			key, subject, domain.Fiscal,
			sealing.Place{Kind: place.Kind, ID: "INV-2026-000002", Pointer: place.Pointer}, sealed,
		),
		"another format": opens(key, subject, domain.Fiscal, sealing.Place{Kind: place.Kind, ID: place.ID, Pointer: "/xml"}, sealed),
		"changed":        opens(key, subject, domain.Fiscal, place, changed),
		"cut":            opens(key, subject, domain.Fiscal, place, sealed[:40]),
	} {
		if !errors.Is(err, sealing.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func opens(key []byte, subject uuid.UUID, purpose domain.Purpose, place sealing.Place, sealed []byte) error {
	_, err := sealing.OpenFile(key, subject, purpose, place, sealed)
	return err
}
