package sealing

import (
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// SealFile encrypts a file with the key of a subject for one purpose. What it returns is the
// body of a sealed text at that place, in its bytes: commitment, nonce, box.
func SealFile(subjectKey []byte, subject uuid.UUID, purpose domain.Purpose, place Place, clear []byte) []byte {
	t := textAt(subject, purpose, place)
	t.seal(subjectKey, clear)
	return t.body
}

// OpenFile decrypts what [SealFile] made for the same subject, purpose and place, or answers
// [ErrBroken].
func OpenFile(subjectKey []byte, subject uuid.UUID, purpose domain.Purpose, place Place, sealed []byte) ([]byte, error) {
	t := textAt(subject, purpose, place)
	if len(sealed) < commitmentSize+nonceSize+tagSize {
		return nil, fmt.Errorf("%w: its form is unknown", ErrBroken)
	}
	t.body = sealed
	clear, err := t.Open(t.Key(subjectKey))
	return []byte(clear), err
}
