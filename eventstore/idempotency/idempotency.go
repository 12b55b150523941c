// Package idempotency keeps which requests carried an Idempotency-Key and what
// they were answered, so that a repeat gets the same answer.
package idempotency

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// Keys keeps idempotency keys in Postgres.
type Keys struct {
	pool *pgxpool.Pool
	keys *sealing.Keyring
}

// Open returns the keys in the database behind pool, which
// [eventstore.Migrate] has prepared.
func Open(pool *pgxpool.Pool, keys *sealing.Keyring) *Keys { return &Keys{pool, keys} }

// ErrInProgress is the refusal for a request whose twin, with the same
// Idempotency-Key, was faster.
var ErrInProgress error = &domain.Error{
	Code: domain.Conflict, Reason: "idempotency_in_progress",
	Message: "A request with this Idempotency-Key is still being processed.",
}

// Statement stores a key in the transaction of its request's events; the log is
// opened with it ([eventstore.WithIdempotencyKeys]). The request counts as
// running for 30 seconds, or until it ends.
func Statement(k domain.IdempotencyKey) eventstore.TxStatement { return statement(k, 0) }

// Keeping is [Statement] for keys that are all kept for this long, or longer if the
// request wants that.
func Keeping(atLeast time.Duration) func(domain.IdempotencyKey) eventstore.TxStatement {
	return func(k domain.IdempotencyKey) eventstore.TxStatement { return statement(k, atLeast) }
}

func statement(k domain.IdempotencyKey, atLeast time.Duration) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: fmt.Sprintf("once_keys/%x", scope(k)),
		SQL: `
			insert into once_keys as o (scope, fingerprint, status, location, running_until, expires_at, subjects)
			values ($1, $2, $3, $4, real_now() + interval '30 seconds', real_now() + greatest($5::interval, $7::interval), $6::uuid[])
			on conflict (scope) do update set fingerprint = excluded.fingerprint, status = excluded.status, location = excluded.location,
				etag = null, body = null, running_until = excluded.running_until, expires_at = excluded.expires_at,
					subjects = excluded.subjects
			where o.expires_at <= real_now()`,
		Args:     []any{scope(k), k.Fingerprints[0], k.Status, k.Location, string(k.Keep), eventstore.TheSubjects, atLeast},
		WantRows: 1, ErrIfNot: ErrInProgress,
	}
}

func scope(k domain.IdempotencyKey) []byte {
	parts := []string{k.Principal, k.Method, k.Path, k.Key}
	if k.Tenant != 0 {
		parts = append(parts, strconv.FormatInt(k.Tenant, 10))
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return sum[:]
}

// EraseAnswers drops the kept answers of requests that recorded personal data of
// these people. A repeat is answered from what is left of the record.
func EraseAnswers(subjects ...uuid.UUID) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "once_keys", SQL: `update once_keys set body = null, etag = null where subjects && $1::uuid[]`,
		Args: []any{subjects}, WantRows: eventstore.AnyRows,
	}
}

// Look returns what became of the request with this key.
func (o *Keys) Look(ctx context.Context, k domain.IdempotencyKey) (domain.Replay, error) {
	var r domain.Replay
	var same, running bool
	err := o.pool.QueryRow(ctx, `
		select fingerprint = any($2), status, location, coalesce(etag, ''), body, coalesce(running_until > real_now(), false)
		from once_keys where scope = $1 and expires_at > real_now()`, scope(k), k.Fingerprints).
		Scan(&same, &r.Status, &r.Location, &r.ETag, &r.Body, &running)
	r.Body = o.openAnswer(k, r.Body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return domain.Replay{State: domain.ReplayFree}, nil
	case err != nil:
		return r, fmt.Errorf("look up an idempotency key: %w", eventstore.Unavailable(err))
	case !same:
		r.State = domain.ReplayReused
	case r.Body != nil:
		r.State = domain.ReplayFinished
	case running:
		r.State = domain.ReplayRunning
	default:
		r.State = domain.ReplayOpen
	}
	return r, nil
}

// sealAnswer seals an answer that is kept: it may tell of people.
func (o *Keys) sealAnswer(k domain.IdempotencyKey, body []byte) []byte {
	box := o.keys.Seal(keptAnswer, string(scope(k)), body)
	return slices.Concat([]byte(box.KeyID), box.Nonce, box.Box)
}

// openAnswer opens it. One that does not open, because its key is gone, counts
// as none: the answer is made anew from the record.
func (o *Keys) openAnswer(k domain.IdempotencyKey, sealed []byte) []byte {
	if len(sealed) < keyIDSize+nonceSize {
		return nil
	}
	id, nonce, box := sealed[:keyIDSize], sealed[keyIDSize:keyIDSize+nonceSize], sealed[keyIDSize+nonceSize:]
	body, err := o.keys.Open(keptAnswer, string(scope(k)), sealing.Sealed{KeyID: string(id), Nonce: nonce, Box: box})
	if err != nil {
		return nil
	}
	return append([]byte{}, body...) // an empty answer is an answer
}

const (
	keptAnswer = "kept answer"
	keyIDSize  = 8 // bytes
	nonceSize  = 12
)

// Finish keeps the answer that a repeat will get.
func (o *Keys) Finish(ctx context.Context, k domain.IdempotencyKey, status int, etag string, body []byte) error {
	_, err := o.pool.Exec(ctx, `update once_keys set status = $2, etag = $3, body = $4, running_until = null where scope = $1`,
		scope(k), status, etag, o.sealAnswer(k, body))
	if err != nil {
		return fmt.Errorf("keep the answer of an idempotency key: %w", eventstore.Unavailable(err))
	}
	return nil
}

// Release ends a request that has no answer to keep: a repeat goes on with it.
func (o *Keys) Release(ctx context.Context, k domain.IdempotencyKey) error {
	_, err := o.pool.Exec(ctx, `update once_keys set running_until = null where scope = $1 and body is null`, scope(k))
	if err != nil {
		return fmt.Errorf("release an idempotency key: %w", eventstore.Unavailable(err))
	}
	return nil
}

// Fingerprints are keyed hashes over the parts of a request, one for each
// secret key: a request is recognised after its key was rotated.
func (o *Keys) Fingerprints(parts ...[]byte) [][]byte {
	var all []byte
	for _, p := range parts {
		all = fmt.Appendf(all, "%d:", len(p))
		all = append(all, p...)
	}
	return o.keys.MACs("fingerprint", all)
}

// Sweep deletes expired keys.
func (o *Keys) Sweep(ctx context.Context) error {
	return eventstore.DeleteExpired(ctx, o.pool, "once_keys", `expires_at < real_now()`)
}
