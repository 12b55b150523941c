package sagas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// The ledger has a row for each effect, written before the call. It never holds
// passwords, tokens or personal data.

// An EffectState is the state of an effect in the ledger.
type EffectState string

const (
	EffectIntended  EffectState = "intended"  // it may have been done
	EffectUnknown   EffectState = "unknown"   // the call was made without an answer
	EffectAbsent    EffectState = "absent"    // it was certainly not done
	EffectConfirmed EffectState = "confirmed" // it has been done
	EffectDeferred  EffectState = "deferred"  // another run continues it
	EffectSkipped   EffectState = "skipped"   // an operator has done it by hand
	EffectUndoing   EffectState = "undoing"   // it may have been undone
	EffectUndone    EffectState = "undone"    // it has been undone
)

// EffectKey is the key of an order's effect: "o/<order>/site".
func EffectKey(order uuid.UUID, step string) string { return "o/" + order.String() + "/" + step }

// A LedgerEntry is one row of the ledger.
type LedgerEntry struct {
	State  EffectState // "": there is no row
	Age    time.Duration
	Sends  int
	Result Result
}

// MayHaveHappened tells whether the effect may have been done without a recorded
// answer.
func (e LedgerEntry) MayHaveHappened() bool {
	return e.State == EffectIntended || e.State == EffectUnknown || e.State == EffectUndoing
}

// A ledger is the table of effects.
type ledger struct {
	pool    *pgxpool.Pool
	keys    *sealing.Keyring
	keyLife time.Duration // of an idempotency key at the other side
}

// Effect reads one row of the ledger. An effect without a row has the state "".
func (l *ledger) Effect(ctx context.Context, key string) (LedgerEntry, error) {
	var e LedgerEntry
	var age float64
	var external *string
	err := l.pool.QueryRow(ctx, `
		select state, coalesce(extract(epoch from real_now() - sent_at), 1e9)::float8, sends, external_id, result
		from effect where key = $1`, key).Scan(&e.State, &age, &e.Sends, &external, &e.Result.Data)
	if errors.Is(err, pgx.ErrNoRows) {
		return e, nil
	}
	if external != nil {
		e.Result.External = *external
	}
	e.Age = Seconds(age)
	return e, SQLError(err, "read effect %s", key)
}

// SameRequest is the condition that an effect was recorded for the same request. Prints
// and ids are the places of what [sealing.Keyring.Prints] returns. A request that was
// recorded under a key that is no longer there cannot be compared, and passes.
func SameRequest(prints, ids string) string {
	return fmt.Sprintf(`(effect.request_mac = any(%s) or substring(effect.request_mac for %d) <> all(%s))`, prints, sealing.IDLength, ids)
}

// Why an intent was refused.
var (
	errContested   = errors.New("another resource has the object")
	errNotIntended = errors.New("the lease is lost or too short, or the request is another one")
)

// intendEffect records the intent. It requires a lease that is long enough, and the same
// request as before under the key. A repeat without a call in between is no other send.
var intendEffect = `
insert into effect (key, saga_id, step, state, request_mac, sent_at, sends, token)
select $1, run.id, $2, 'intended', ($3::bytea[])[1], real_now(), 1, run.lease_token
from saga_run run
where run.id = $5 and run.lease_token = $6 and run.status = 'running' and run.step = $7 and run.lease_until >= real_now() + $8::interval
for no key update
on conflict (key) do update set state = case when effect.state = 'deferred' then effect.state else excluded.state end,
	saga_id = excluded.saga_id, request_mac = excluded.request_mac, sent_at = real_now(),
	sends = effect.sends + case when effect.state = 'intended' and (effect.saga_id, effect.token) = (excluded.saga_id,
		excluded.token) then 0 else 1 end,
	token = excluded.token, updated_at = real_now()
where (effect.saga_id <> excluded.saga_id or effect.token <= excluded.token)
	and ` + SameRequest("$3", "$4") + `
	and effect.state in ('intended', 'unknown', 'absent', 'deferred')`

// intentRows claim the object of a call and record the intent. They have the key of the
// work row, so that they come after its advance. Limit is the longest duration of the call.
func (l *ledger) intentRows(c claimed, step step, key string, call Call, limit time.Duration) []eventstore.TxStatement {
	prints, ids := l.requestPrints(call)
	run := "saga_run/" + c.id.String()
	var rows []eventstore.TxStatement
	if o := call.Claim; o != (Claim{}) {
		rows = append(rows, eventstore.TxStatement{
			Key: run,
			SQL: `insert into external_claim (server, kind, name, owner) select server, kind, name, owner from arg
				on conflict (server, kind, name) do update set taken_at = real_clock() where external_claim.owner = excluded.owner`,
			Columns: "server text, kind text, name text, owner text", Args: []any{o.Server, o.Kind, o.Name, o.Owner.String()},
			WantRows: 1, ErrIfNot: errContested,
		})
	}
	return append(rows, eventstore.TxStatement{
		Key: run, SQL: intendEffect, Args: []any{key, step.name, prints, ids, c.id, c.token, c.Step, limit},
		WantRows: 1, ErrIfNot: errNotIntended,
	}, eventstore.TxStatement{
		Key: run,
		SQL: `insert into saga_attempt (saga_id, token, step) select id, token, step from arg
			on conflict (saga_id, token, step) do update set started_at = business_now(), finished_at = null, outcome = null`,
		Columns: "id uuid, token bigint, step int", Args: []any{c.id, c.token, c.Step}, WantRows: eventstore.AnyRows,
	})
}

// intend records the effect before the call, together with what is unrecorded of the
// run. If that is refused it goes first, so that the intent is refused for itself.
func (s *executor) intend(ctx context.Context, c claimed, step step, key string, call Call) error {
	rows := s.ledger.intentRows(c, step, key, call, s.times.call(step))
	err := s.settleWith(ctx, c, "intend", rows...)
	if err != nil && !c.todo.empty() && !DatabaseAway(err) {
		if err := s.settle(ctx, c); err != nil {
			return err
		}
		err = s.settleWith(ctx, c, "intend", rows...)
	}
	switch {
	case errors.Is(err, errContested):
		return s.contend(ctx, c, step, call)
	case errors.Is(err, errNotIntended):
		return s.ledger.notIntended(ctx, c, key, call)
	}
	return err
}

// effectTaken tells whether the row of an effect is what refuses an intent. Otherwise the
// lease was lost or too short.
var effectTaken = `
select exists (select from effect where key = $1 and (saga_id <> $2 or token <= $5)
	and not (` + SameRequest("$3", "$4") + ` and state in ('intended', 'unknown', 'absent', 'deferred')))`

// notIntended tells why an intent was refused.
func (l *ledger) notIntended(ctx context.Context, c claimed, key string, call Call) error {
	prints, ids := l.requestPrints(call)
	var taken bool
	err := l.pool.QueryRow(ctx, effectTaken, key, c.id, prints, ids, c.token).Scan(&taken)
	switch {
	case err != nil:
		return SQLError(err, "read effect %s", key)
	case !taken:
		return ErrFenced
	}
	return domain.Fail(domain.Permanent, "request_changed", errors.New("the same effect was asked for differently before"))
}

// requestPrints are those of the request under each secret key, the newest first: an
// earlier intent may have used an older key.
func (l *ledger) requestPrints(call Call) (prints, ids [][]byte) {
	return l.keys.Prints("effect request", Encode(call.Request))
}

// noteFailure records a failed call. A call that was certainly not made does not
// count as sent.
func (l *ledger) noteFailure(ctx context.Context, c claimed, key string, class domain.Class) error {
	state, back := EffectUnknown, 0
	if class == domain.Transient || class == domain.Permanent || class == domain.Waiting {
		state, back = EffectAbsent, 1
	}
	_, err := exec(ctx, l.pool, "note the end of a call", `
		update effect set state = case when state = 'deferred' then state else $3 end, sends = sends - $4::int, updated_at = real_now()
		where key = $1 and token = $2 and state in ('intended', 'unknown', 'deferred')`, key, c.token, string(state), back)
	return err
}

// confirmedRow records that an effect has been done.
func confirmedRow(key string, c claimed, r Result) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "effect/" + key,
		SQL: `update effect set state = 'confirmed', external_id = nullif(arg.external, ''), result = arg.result, token = arg.token,
				saga_id = arg.run, updated_at = real_now()
			from arg where effect.key = arg.key and (effect.saga_id <> arg.run or effect.token <= arg.token)
				and state in ('intended', 'unknown', 'absent', 'deferred')`,
		Columns:  "key text, token bigint, external text, result jsonb, run uuid",
		Args:     []any{key, c.token, r.External, text(r.Data), c.id},
		WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// deferredRow leaves an effect to another run. Without an intent there is no row to
// change.
func deferredRow(key string, c claimed) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "effect/" + key,
		SQL: `insert into effect (key, saga_id, step, state, request_mac, token) values ($1, $3, $4, 'deferred', ''::bytea, $2)
			on conflict (key) do update set state = 'deferred', token = excluded.token, saga_id = excluded.saga_id, updated_at = real_now()
			where effect.state in ('intended', 'unknown', 'absent', 'deferred')`,
		Args:     []any{key, c.token, c.id, c.At().Name},
		WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// undoneRow records that an effect has been taken back.
func undoneRow(key string, c claimed) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "effect/" + key, SQL: `update effect set state = 'undone', token = $2, updated_at = real_now() where key = $1 and token <= $2`,
		Args: []any{key, c.token}, WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// UndoneOutside records that an effect was undone by another run or by hand.
func UndoneOutside(key string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "effect/" + key, SQL: `update effect set state = 'undone', updated_at = real_now() where key = $1`,
		Args: []any{key}, WantRows: 1,
	}
}

// text returns JSON as an argument for Postgres; nil stays null.
func text(data json.RawMessage) *string {
	if data == nil {
		return nil
	}
	t := string(data)
	return &t
}
