package eventstore

import (
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a password hash (docs/security.md, "Passwords").
const (
	argonMemory  = 19456 // KiB
	argonTime    = 2
	argonThreads = 1
)

// hashing lets one hash run on each core at a time, so that a flood of logins
// cannot take all memory.
var hashing = make(chan struct{}, runtime.NumCPU())

// HashPassword returns the argon2id hash of a password, in PHC form.
func HashPassword(password string) string {
	salt := random(16)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(argon(password, salt, argonTime, argonMemory, argonThreads, 32)))
}

func argon(password string, salt []byte, time, memory uint32, threads uint8, length uint32) []byte {
	hashing <- struct{}{}
	defer func() { <-hashing }()
	return argon2.IDKey([]byte(password), salt, time, memory, threads, length)
}

// PasswordIs tells whether a password belongs to a hash.
func PasswordIs(phc, password string) bool {
	var version int
	var memory, time uint32
	var threads uint8
	var rest string
	if _, err := fmt.Sscanf(phc, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &memory, &time, &threads, &rest); err != nil {
		return false
	}
	saltText, hashText, ok := strings.Cut(rest, "$")
	salt, err1 := base64.RawStdEncoding.DecodeString(saltText)
	hash, err2 := base64.RawStdEncoding.DecodeString(hashText)
	if !ok || err1 != nil || err2 != nil || len(hash) == 0 {
		return false
	}
	return subtle.ConstantTimeCompare(hash, argon(password, salt, time, memory, threads, uint32(len(hash)))) == 1
}

// PasswordRow sets a user's password; the hash stands outside the log.
func PasswordRow(user int64, phc string) Row {
	return Row{
		Key:  fmt.Sprintf("credentials/%d", user),
		SQL:  `insert into credentials (user_id, phc) values ($1, $2) on conflict (user_id) do update set phc = excluded.phc, changed_at = now()`,
		Args: []any{user, phc}, Touches: 1,
	}
}
