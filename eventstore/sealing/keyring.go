package sealing

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Keyring holds the secret keys of the installation: the first seals and
// signs, all open (docs/security.md, "Keys").
type Keyring struct{ keys []secretKey }

// secretKey is one of them; its id tells which one sealed something.
type secretKey struct {
	id     string
	secret []byte
	boxes  *sync.Map // a cipher for each purpose
}

// IDLength is the length of a key's id, in characters.
const IDLength = 8

// ErrKey means that something was sealed with a key that this installation
// does not have, or was changed since.
var ErrKey = errors.New("cannot be opened with the secret keys of this installation")

// ParseKeyring reads a comma-separated list of base64 texts of 32 bytes each,
// as HOSTPANEL_SECRET_KEY has them.
func ParseKeyring(list string) (*Keyring, error) {
	var r Keyring
	for text := range strings.SplitSeq(list, ",") {
		secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(secret) != 32 {
			return nil, errors.New("HOSTPANEL_SECRET_KEY: each key is the base64 text of 32 bytes")
		}
		id := sha256.Sum256(secret)
		r.keys = append(r.keys, secretKey{hex.EncodeToString(id[:IDLength/2]), secret, &sync.Map{}})
	}
	return &r, nil
}

// NewSecretKey makes a key, in the form that [ParseKeyring] reads.
func NewSecretKey() string {
	return base64.StdEncoding.EncodeToString(Random(32))
}

// Random returns n random bytes.
func Random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails, says its documentation
	return b
}

// Sealed is a text that only the keyring can open.
type Sealed struct {
	KeyID      string
	Nonce, Box []byte
}

// Seal encrypts a text for one purpose; context must be the same when it is
// opened, so that a box cannot be moved to another place.
func (r *Keyring) Seal(purpose, context string, text []byte) Sealed {
	key := r.keys[0]
	nonce := Random(12)
	return Sealed{key.id, nonce, key.box(purpose).Seal(nil, nonce, text, []byte(purpose+"\x00"+context))}
}

// Open decrypts what [Keyring.Seal] made, or answers [ErrKey].
func (r *Keyring) Open(purpose, context string, s Sealed) ([]byte, error) {
	for _, key := range r.keys {
		if key.id == s.KeyID {
			text, err := key.box(purpose).Open(nil, s.Nonce, s.Box, []byte(purpose+"\x00"+context))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", purpose, ErrKey)
			}
			return text, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", purpose, ErrKey)
}

// MACs are keyed hashes for one purpose, one for each key. The first one is
// kept; what was kept before a rotation is found by one of the others.
func (r *Keyring) MACs(purpose string, data []byte) [][]byte {
	var all [][]byte
	for _, key := range r.keys {
		all = append(all, key.mac(purpose, data))
	}
	return all
}

// Prints are MACs, each after the id of its key. One that was kept under a key that
// is no longer there begins with none of these ids: it cannot be compared.
func (r *Keyring) Prints(purpose string, data []byte) (prints, ids [][]byte) {
	for _, key := range r.keys {
		ids = append(ids, []byte(key.id))
		prints = append(prints, append([]byte(key.id), key.mac(purpose, data)...))
	}
	return prints, ids
}

// Derive is a key of 32 bytes for one purpose, such as signing test webhooks.
func (r *Keyring) Derive(purpose string) []byte { return r.keys[0].derive(purpose) }

// A DerivedKey is a key for one purpose; its ID tells which of several made a
// signature.
type DerivedKey struct {
	ID  string
	Key []byte // 32 bytes
}

// DeriveAll are the keys for one purpose, such as signing access tokens: the
// first signs, all verify.
func (r *Keyring) DeriveAll(purpose string) []DerivedKey {
	all := make([]DerivedKey, len(r.keys))
	for i, key := range r.keys {
		all[i] = DerivedKey{key.id, key.derive(purpose)}
	}
	return all
}

// Holds tells whether a key with this id is among them.
func (r *Keyring) Holds(id string) bool {
	return slices.ContainsFunc(r.keys, func(k secretKey) bool { return k.id == id })
}

// IDs are the ids of all keys, the first one first.
func (r *Keyring) IDs() []string {
	ids := make([]string, len(r.keys))
	for i, key := range r.keys {
		ids[i] = key.id
	}
	return ids
}

// CheckValue proves that the keyring has the key of an id; nil: it has none.
func (r *Keyring) CheckValue(id string) []byte {
	for _, key := range r.keys {
		if key.id == id {
			return key.mac("check value", []byte(id))
		}
	}
	return nil
}

// Retired returns the ids of all keys but the first.
func (r *Keyring) Retired() []string {
	var ids []string
	for _, key := range r.keys[1:] {
		ids = append(ids, key.id)
	}
	return ids
}

func (k secretKey) mac(purpose string, data []byte) []byte {
	h := hmac.New(sha256.New, k.derive("mac "+purpose))
	h.Write(data)
	return h.Sum(nil)
}

func (k secretKey) derive(purpose string) []byte {
	key, err := hkdf.Key(sha256.New, k.secret, nil, "hostpanel "+purpose, 32)
	if err != nil {
		panic(err) // only for lengths that SHA-256 cannot give
	}
	return key
}

// box is the cipher for one purpose. It is made once: each sealed text has a key of a
// subject that it opens.
func (k secretKey) box(purpose string) cipher.AEAD {
	if made, is := k.boxes.Load(purpose); is {
		return made.(cipher.AEAD)
	}
	made := gcm(k.derive(purpose))
	k.boxes.Store(purpose, made)
	return made
}

func gcm(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has 32 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return aead
}
