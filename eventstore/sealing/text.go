// Package sealing encrypts what only the holder of a key may read: personal
// texts under keys of the people they are about, and everything else that is
// secret under the secret keys of the installation. docs/log.md, "Personal
// data", describes the form of a sealed text.
package sealing

import (
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// Prefix begins every sealed text.
const Prefix = "sealed:"

// The labels are part of the stored format.
const (
	version  = "1"
	keyLabel = "hostpanel text v1"
	boxLabel = "hostpanel box v1"
)

const (
	commitmentSize = 32
	nonceSize      = 12
	tagSize        = 16
)

// bodyForm is the text form of a body; each body has one such form.
var bodyForm = base64.RawStdEncoding.Strict()

// ErrBroken means that a sealed text was changed, moved to another place, or
// sealed with another key than the one at hand.
var ErrBroken = errors.New("the sealed text is broken")

// A Place is where a sealed text stands.
type Place struct {
	Kind    string // "event"; texts outside the log have other kinds
	ID      string // of the event; without a colon
	Pointer string // JSON pointer to the text in the event, as the event was written
}

// A Text is a text that was sealed, with all that names its key.
type Text struct {
	Subject uuid.UUID
	Purpose domain.Purpose
	Place   Place

	head string // the stored text up to its body: the associated data of the box
	body []byte // commitment, nonce, box
}

// Seal encrypts a text with the key of a subject for one purpose, and returns
// its stored form.
func Seal(subjectKey []byte, subject uuid.UUID, purpose domain.Purpose, place Place, clear string) string {
	t := textAt(subject, purpose, place)
	t.seal(subjectKey, []byte(clear))
	return t.head + bodyForm.EncodeToString(t.body)
}

func textAt(subject uuid.UUID, purpose domain.Purpose, place Place) Text {
	t := Text{Subject: subject, Purpose: purpose, Place: place}
	t.head = strings.Join([]string{Prefix + version, subject.String(), string(purpose), place.Kind, place.ID, place.Pointer, ""}, ":")
	return t
}

func (t *Text) seal(subjectKey, clear []byte) {
	boxKey, commitment := split(t.Key(subjectKey))
	nonce := Random(nonceSize)
	t.body = make([]byte, 0, commitmentSize+nonceSize+len(clear)+tagSize)
	t.body = append(append(t.body, commitment...), nonce...)
	t.body = gcm(boxKey).Seal(t.body, nonce, clear, []byte(t.head))
}

// Of is how every stored text of a subject begins.
func Of(subject uuid.UUID) string { return Prefix + version + ":" + subject.String() + ":" }

// Parse reads the stored form of a sealed text.
func Parse(stored string) (Text, error) {
	end := strings.LastIndexByte(stored, ':') + 1
	parts := strings.SplitN(stored[:end], ":", 7) // a JSON pointer may hold colons
	if len(parts) != 7 || parts[0]+":" != Prefix || parts[1] != version {
		return Text{}, fmt.Errorf("%w: its form is unknown", ErrBroken)
	}
	subject, badSubject := uuid.Parse(parts[2])
	body, badBody := bodyForm.DecodeString(stored[end:])
	if badSubject != nil || badBody != nil || len(body) < commitmentSize+nonceSize+tagSize {
		return Text{}, fmt.Errorf("%w: its form is unknown", ErrBroken)
	}
	return Text{
		Subject: subject, Purpose: domain.Purpose(parts[3]), head: stored[:end], body: body,
		Place: Place{Kind: parts[4], ID: parts[5], Pointer: strings.TrimSuffix(parts[6], ":")},
	}, nil
}

// Key derives the key of this text alone from the key of its subject. It opens
// this text and no other one.
func (t Text) Key(subjectKey []byte) []byte {
	return expand(subjectKey, 32, keyLabel, t.Place.Kind, t.Place.ID, t.Place.Pointer)
}

// Open decrypts a text with its [Text.Key]. It checks the commitment first, so
// that a stored text opens with one key only. It answers [ErrBroken] if the
// text or the key is another one.
func (t Text) Open(key []byte) (string, error) {
	boxKey, commitment := split(key)
	if subtle.ConstantTimeCompare(commitment, t.body[:commitmentSize]) != 1 {
		return "", fmt.Errorf("%w: it commits to another key", ErrBroken)
	}
	nonce, box := t.body[commitmentSize:commitmentSize+nonceSize], t.body[commitmentSize+nonceSize:]
	clear, err := gcm(boxKey).Open(nil, nonce, box, []byte(t.head))
	if err != nil {
		return "", fmt.Errorf("%w: it was changed", ErrBroken)
	}
	return string(clear), nil
}

// split derives from the key of a text the key of its box and the commitment.
func split(key []byte) (boxKey, commitment []byte) {
	both := expand(key, 32+commitmentSize, boxLabel)
	return both[:32], both[32:]
}

// expand is HKDF-Expand with SHA-256; each part of the info has its length
// before it, in four bytes.
func expand(key []byte, length int, info ...string) []byte {
	var joined []byte
	for _, part := range info {
		joined = binary.BigEndian.AppendUint32(joined, uint32(len(part)))
		joined = append(joined, part...)
	}
	out, err := hkdf.Expand(sha256.New, key, string(joined), length)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return out
}
