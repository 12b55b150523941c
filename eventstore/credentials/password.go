package credentials

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/argon2"

	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// A Cost is what a hash of a password costs: parameters of argon2id.
type Cost struct {
	Memory, Time uint32 // memory in KiB
	Threads      uint8
}

// fullCost is that of docs/security.md, "Passwords".
var fullCost = Cost{Memory: 19456, Time: 2, Threads: 1}

// A passwordHash is an argon2id hash with its cost and salt.
type passwordHash struct {
	cost      Cost
	salt, sum []byte
}

// noPassword is the hash that is checked for users without a password, so that
// the check takes the same time. No password matches it.
func (c Cost) noPassword() passwordHash {
	return passwordHash{c, make([]byte, saltLength), make([]byte, sumLength)}
}

const saltLength, sumLength = 16, 32

// hashing allows one hash per core at a time, so that many logins cannot use all
// memory.
var hashing = make(chan struct{}, runtime.NumCPU())

var hashed atomic.Uint64

// PasswordHashes is the number of password hashes that this process has computed.
func PasswordHashes() uint64 { return hashed.Load() }

// HashPassword returns the argon2id hash of a password, in PHC form. The wait for
// a free core ends with ctx.
func (v *Vault) HashPassword(ctx context.Context, password string) (phc string, err error) {
	h := passwordHash{cost: v.cost, salt: sealing.Random(saltLength)}
	if h.sum, err = h.of(ctx, password, sumLength); err != nil {
		return "", err
	}
	return h.phc(), nil
}

// of computes the hash of a password once a core is free.
func (h passwordHash) of(ctx context.Context, password string, length int) ([]byte, error) {
	select {
	case hashing <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("hash a password: %w", context.Cause(ctx))
	}
	defer func() { <-hashing }()
	hashed.Add(1)
	return argon2.IDKey([]byte(password), h.salt, h.cost.Time, h.cost.Memory, h.cost.Threads, uint32(length)), nil
}

func (h passwordHash) is(ctx context.Context, password string) (bool, error) {
	sum, err := h.of(ctx, password, len(h.sum))
	return err == nil && subtle.ConstantTimeCompare(h.sum, sum) == 1, err
}

func (h passwordHash) outdated(now Cost) bool {
	return h.cost != now || len(h.salt) != saltLength || len(h.sum) != sumLength
}

func (h passwordHash) phc() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Time, h.cost.Threads,
		base64.RawStdEncoding.EncodeToString(h.salt), base64.RawStdEncoding.EncodeToString(h.sum))
}

func parsePHC(phc string) (h passwordHash, ok bool) {
	var version int
	var rest string
	if _, err := fmt.Sscanf(
		phc, "$argon2id$v=%d$m=%d,t=%d,p=%d$%s", &version, &h.cost.Memory, &h.cost.Time, &h.cost.Threads, &rest,
	); err != nil {
		return h, false
	}
	salt, sum, ok := strings.Cut(rest, "$")
	var err1, err2 error
	h.salt, err1 = base64.RawStdEncoding.DecodeString(salt)
	h.sum, err2 = base64.RawStdEncoding.DecodeString(sum)
	return h, ok && err1 == nil && err2 == nil && len(h.sum) > 0 && version == argon2.Version && h.cost.Time > 0 && h.cost.Threads > 0
}

// CheckPassword tells whether a password is the user's. It always makes one query
// and one hash, also for user 0 (unknown) and for users without a password. A hash
// of another cost is replaced after a successful check. The wait for a free core
// ends with ctx.
func (v *Vault) CheckPassword(ctx context.Context, user int64, password string) (bool, error) {
	var stored string
	err := v.pool.QueryRow(ctx, `select phc from credentials where user_id = $1`, user).Scan(&stored)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return false, fmt.Errorf("read a password's hash: %w", eventstore.Unavailable(err))
	}
	h, known := parsePHC(stored)
	if !known {
		h = v.cost.noPassword()
	}
	is, err := h.is(ctx, password)
	if err != nil || !is || !known {
		return false, err
	}
	if h.outdated(v.cost) {
		err = v.rehash(ctx, user, stored, password)
	}
	return true, err
}

// rehash replaces a user's hash by one of the present cost, unless the password
// was changed in the meantime.
func (v *Vault) rehash(ctx context.Context, user int64, old, password string) error {
	phc, err := v.HashPassword(ctx, password)
	if err != nil {
		return err
	}
	if _, err := v.pool.Exec(ctx, `update credentials set phc = $3 where user_id = $1 and phc = $2`, user, old, phc); err != nil {
		return fmt.Errorf("renew a password's hash: %w", eventstore.Unavailable(err))
	}
	return nil
}

// PasswordRow sets a user's password. The hash is stored outside the log.
func PasswordRow(user int64, phc string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("credentials/%d", user),
		SQL: `insert into credentials (user_id, phc) values ($1, $2) on conflict (user_id) do update
			set phc = excluded.phc, changed_at = real_now()`,
		Args: []any{user, phc}, WantRows: 1,
	}
}
