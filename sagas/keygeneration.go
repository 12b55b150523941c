package sagas

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Payment providers know keys: what is sent twice under one key is done once,
// and the second answer is the first one again, even if that was a mistake of
// their own, a 500. After a day they forget. So a key that brings no answer is
// given up for its next generation, but only once a look has proved that
// nothing was done under it (rule S-6; docs/sagas.md, "Keys").

// keySends is how often something is sent under one key without an answer
// before the key counts as worn out.
const keySends = 2

// StoredError is the code of an answer that a provider will repeat for as long
// as it is asked under the same key.
const StoredError = "stored_error"

// abandonKey writes down that the present key will bring no other answer.
func (l *ledger) abandonKey(ctx context.Context, c claimed, key string) error {
	_, err := exec(
		ctx, l.pool, "give up a key", `update effect set keyed_from = sends - $3::int where key = $1 and token = $2`, key,
		c.token, keySends,
	)
	return err
}

// withGeneration makes an effect that is sent under a key ready for the generation
// that is due. Nothing has been done under those before it.
func (l *ledger) withGeneration(ctx context.Context, c claimed, key string, call Call) (Call, error) {
	if call.Under == nil {
		return call, nil
	}
	generation, err := l.nextGeneration(ctx, c, key)
	call.Do = func(ctx context.Context) (Result, error) { return call.Under(ctx, generation) }
	return call, err
}

func (l *ledger) nextGeneration(ctx context.Context, c claimed, key string) (generation int, err error) {
	err = c.hold.write(func() error {
		return l.pool.QueryRow(ctx, `
			with fence as (
				select id from saga_run where id = $2 and lease_token = $3 and status = 'running' and step = $4 for no key update
			), next as (
				update effect set generation = generation + 1, keyed_at = real_now(), keyed_from = sends, updated_at = real_now()
				where key = $1 and token <= $3 and (sends - keyed_from >= $5 or keyed_at < real_now() - $6::interval)
					and exists (select from fence)
				returning generation
			)
			select coalesce((select generation from next), (select generation from effect where key = $1), 1) from fence`,
			key, c.id, c.token, c.Step, keySends, l.keyLife).Scan(&generation)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrFenced
	}
	return generation, SQLError(err, "choose the key of %s", key)
}

// KeyOfGeneration is the key as the provider is told it.
func KeyOfGeneration(key string, generation int) string {
	if generation < 2 {
		return key
	}
	return fmt.Sprintf("%s/g%d", key, generation)
}
