package tlog

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// cosignature is the type of the keys of witnesses: Ed25519 with a time
// (tlog-cosignature of C2SP).
const cosignature = 4

// A Witness is what signs the checkpoints of logs that it has seen growing. It is a
// signer of notes.
type Witness struct {
	Cosigner
	key ed25519.PrivateKey
	now func() time.Time
}

// A Cosigner is the public part of a witness. It is a verifier of notes.
type Cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// errKey means that a text is no key of a witness.
var errKey = errors.New("not the key of a witness")

// NewWitnessKey draws the key of a witness, as the base64 text of its 32 bytes.
func NewWitnessKey() string {
	seed := make([]byte, ed25519.SeedSize)
	rand.Read(seed) // never fails, says its documentation
	return base64.StdEncoding.EncodeToString(seed)
}

// NewWitness is a witness with a key of [NewWitnessKey]. Its signatures bear the time
// that now tells.
func NewWitness(name, key string, now func() time.Time) (*Witness, error) {
	seed, err := base64.StdEncoding.DecodeString(key)
	if err != nil || len(seed) != ed25519.SeedSize || !isName(name) {
		return nil, errKey
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, _ := private.Public().(ed25519.PublicKey)
	return &Witness{newCosigner(name, public), private, now}, nil
}

func newCosigner(name string, key ed25519.PublicKey) Cosigner {
	sum := sha256.Sum256(append([]byte(name+"\n"), append([]byte{cosignature}, key...)...))
	return Cosigner{name, binary.BigEndian.Uint32(sum[:]), key}
}

// isName tells whether a text may be the name of a key.
func isName(name string) bool {
	return name != "" && utf8.ValidString(name) && strings.IndexFunc(name, unicode.IsSpace) < 0 && !strings.Contains(name, "+")
}

// ParseCosigner reads the vkey of a witness.
func ParseCosigner(vkey string) (Cosigner, error) {
	name, rest, _ := strings.Cut(vkey, "+")
	hash, key, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.Strict().DecodeString(key)
	if err != nil || len(raw) != 1+ed25519.PublicKeySize || raw[0] != cosignature || !isName(name) {
		return Cosigner{}, errKey
	}
	c := newCosigner(name, raw[1:])
	if given, err := strconv.ParseUint(hash, 16, 32); err != nil || uint32(given) != c.hash {
		return Cosigner{}, errKey
	}
	return c, nil
}

// Name is for golang.org/x/mod/sumdb/note.
func (c Cosigner) Name() string { return c.name }

// KeyHash is for golang.org/x/mod/sumdb/note.
func (c Cosigner) KeyHash() uint32 { return c.hash }

// VKey is the public key as policies have it.
func (c Cosigner) VKey() string {
	return fmt.Sprintf("%s+%08x+%s", c.name, c.hash, base64.StdEncoding.EncodeToString(append([]byte{cosignature}, c.key...)))
}

// Verify is for golang.org/x/mod/sumdb/note.
func (c Cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	message, err := cosigned(binary.BigEndian.Uint64(signature), text)
	return err == nil && ed25519.Verify(c.key, message, signature[8:])
}

// Sign is for golang.org/x/mod/sumdb/note.
func (w *Witness) Sign(text []byte) ([]byte, error) {
	at := uint64(w.now().Unix()) //nolint:gosec // after 1970
	message, err := cosigned(at, text)
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(w.key, message)...), nil
}

// cosigned is what a witness signs.
func cosigned(at uint64, text []byte) ([]byte, error) {
	if _, err := ParseCheckpoint(string(text)); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", at, text), nil
}

// Cosign returns the line that the witness adds to a checkpoint.
func (w *Witness) Cosign(c Checkpoint, text string) (string, error) {
	signed, err := note.Sign(&note.Note{Text: text}, w)
	if err != nil {
		return "", fmt.Errorf("cosign %s: %w", c.Origin, err)
	}
	return strings.TrimPrefix(string(signed), text+"\n"), nil
}
