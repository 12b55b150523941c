package notice

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"
)

// The links in mails that prove by their signature whom they were sent to. Nothing is kept
// of them: without a key none can be made for another user or another purpose.

// The first byte of a token is what its link is for.
const (
	unsubscribing = 1
	joining       = 2
)

// A Joining is what the link about an unpaid order does: its reader chooses which tenant
// the order joins (docs/orders.md, "Joining a tenant by a link").
type Joining struct {
	User  int64
	Order uuid.UUID
}

// Token is the proof that the mail carries, fit for a URL. What it allows ends with the
// payment of the order, so it has no time of its own.
func (j Joining) Token(key []byte) string {
	return signed(key, append(begin(joining, j.User), j.Order[:]...))
}

// ReadJoining reads a token that was made with one of the keys.
func ReadJoining(token string, keys ...[]byte) (Joining, bool) {
	user, rest, ok := readSigned(joining, token, keys...)
	order, err := uuid.FromBytes(rest)
	return Joining{User: user, Order: order}, ok && err == nil
}

// saidMin is how many bytes each token begins with: the purpose and the user.
const saidMin = 1 + 8

func begin(purpose byte, user int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{purpose}, uint64(user)) //nolint:gosec // the same bits
}

func signed(key, said []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(said, signature(key, said)...))
}

// readSigned reads what a token of a purpose says after its user. How long it takes tells
// nothing of what would have been right.
func readSigned(purpose byte, token string, keys ...[]byte) (user int64, rest []byte, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(token)
	end := len(raw) - sha256.Size
	if err != nil || end < saidMin || raw[0] != purpose || base64.RawURLEncoding.EncodeToString(raw) != token {
		return 0, nil, false
	}
	for _, key := range keys {
		ok = hmac.Equal(raw[end:], signature(key, raw[:end])) || ok
	}
	return int64(binary.BigEndian.Uint64(raw[1:])), raw[saidMin:end], ok //nolint:gosec // the same bits
}

func signature(key, said []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(said)
	return mac.Sum(nil)
}
