// Package sandbox is a hosting engine that serves nothing. It behaves as a
// real one does: it knows no idempotency keys, allocates its own numbers, has
// rules of its own for names, applies what was asked later, and fails when a
// test or an operator orders it to (docs/adapters.md, "Sandboxes").
package sandbox

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
)

// Migrations make the engine's tables. They need those of package faults.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// An Engine is one server of the sandbox.
type Engine struct {
	pool     *pgxpool.Pool
	ordered  *faults.Ordered
	delay    time.Duration
	issuing  time.Duration
	validity time.Duration
	now      func() time.Time
}

// An Option changes how the engine behaves.
type Option func(*Engine)

// Applying lets everything be applied that much later; without it, at once.
func Applying(later time.Duration) Option { return func(e *Engine) { e.delay = later } }

// Issuing lets certificates be issued that much after they were ordered, and
// be valid for so long; without it, at once and for 90 days.
func Issuing(later, validity time.Duration) Option {
	return func(e *Engine) { e.issuing, e.validity = later, validity }
}

// Telling sets the clock of certificates and of what is measured; without it,
// the real one.
func Telling(now func() time.Time) Option { return func(e *Engine) { e.now = now } }

// New returns the engine whose objects stand in the schema sandbox_engine.
func New(pool *pgxpool.Pool, options ...Option) *Engine {
	e := &Engine{pool: pool, ordered: faults.For(pool, "engine"), validity: 90 * 24 * time.Hour, now: clock.Now}
	for _, o := range options {
		o(e)
	}
	return e
}

// Server names the engine's only server.
func (e *Engine) Server() string { return "sandbox" }

// Faults are what has been ordered to go wrong.
func (e *Engine) Faults() *faults.Ordered { return e.ordered }

// Find looks an object up by its natural key or by our reference in it, or by
// both; an empty one does not count. Several objects that match are a permanent
// failure, because it is not clear which is meant.
func (e *Engine) Find(ctx context.Context, kind, name, ref string) (found hosting.EngineObject, ok bool, err error) {
	err = e.ordered.Around(ctx, faults.Call{Call: faults.Find, Kind: kind, Name: name}, func(faults.Fault) error {
		found, ok, err = e.find(ctx, kind, name, ref)
		return err
	})
	if err != nil {
		return hosting.EngineObject{}, false, err
	}
	return found, ok, nil
}

func (e *Engine) find(ctx context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	if _, err := ruleOf(kind); err != nil {
		return hosting.EngineObject{}, false, err
	}
	all, err := e.query(ctx, `where kind = $1 and id in (select id from sandbox_engine.objects where kind = $1 and name = $2 and $2 <> ''
			union all select id from sandbox_engine.objects where kind = $1 and ref = $3 and ref <> '')
		and visible_at <= real_now() and gone_at > real_now() order by id limit 2`, kind, name, ref)
	switch {
	case err != nil:
		return hosting.EngineObject{}, false, err
	case len(all) > 1:
		return hosting.EngineObject{}, false, domain.Fail(
			domain.Permanent, "ambiguous", fmt.Errorf("several objects of kind %s match", kind),
		)
	case len(all) == 0:
		return hosting.EngineObject{}, false, nil
	}
	return all[0], true, nil
}

// List reads everything of a kind that a client owns, by number; of the kind
// "tenant" the client itself. A client that is not there is a permanent
// failure, "owner_missing".
func (e *Engine) List(ctx context.Context, kind string, owner int64) (all []hosting.EngineObject, err error) {
	err = e.ordered.Around(ctx, faults.Call{Call: faults.List, Kind: kind}, func(faults.Fault) error {
		all, err = e.list(ctx, kind, owner)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func (e *Engine) list(ctx context.Context, kind string, owner int64) ([]hosting.EngineObject, error) {
	if _, err := ruleOf(kind); err != nil {
		return nil, err
	}
	if err := e.knows(ctx, owner); err != nil {
		return nil, err
	}
	owned := ownedBy
	if kind == tenant {
		owned = `id = $2`
	}
	return e.query(ctx, `where kind = $1 and `+owned+`
		and visible_at <= real_now() and gone_at > real_now() order by id`, kind, owner)
}

// ownedBy is the condition on what a client owns, who is the second argument. It names the
// rows of the index.
const ownedBy = `owner = $2 and owner > 0`

func (e *Engine) knows(ctx context.Context, client int64) error {
	var known bool
	err := e.pool.QueryRow(
		ctx,
		`select exists (select from sandbox_engine.objects where kind = '`+tenant+`' and id = $1 and gone_at > real_now())`,
		client,
	).Scan(&known)
	if err == nil && !known {
		err = errNoOwner
	}
	return unanswered("read", err)
}

var errNoOwner = domain.Fail(domain.Permanent, "owner_missing", errors.New("the owning client does not exist"))

// query reads objects; where begins with "where".
func (e *Engine) query(ctx context.Context, where string, args ...any) ([]hosting.EngineObject, error) {
	rows, err := e.pool.Query(ctx, `select `+columns+` from sandbox_engine.objects `+where, args...)
	if err != nil {
		return nil, unanswered("read", err)
	}
	all, err := pgx.CollectRows(rows, object)
	return all, unanswered("read", err)
}

const columns = `kind, id, owner, name, ref, parents, sent, observed, applied_at <= real_now()`

// object is what look-ups see: the end of a certificate is unknown before it is
// issued.
func object(row pgx.CollectableRow) (hosting.EngineObject, error) {
	o, err := whole(row)
	if rules[o.Kind].issued && !o.Applied {
		o.Observed = field.Values{}
	}
	return o, err
}

func whole(row pgx.CollectableRow) (o hosting.EngineObject, err error) {
	return o, row.Scan(&o.Kind, &o.ID, &o.Owner, &o.Name, &o.Ref, &o.Parents, &o.Values, &o.Observed, &o.Applied)
}

// unanswered makes an error of the database what it would be with a real
// engine: no answer. Failures pass.
func unanswered(call string, err error) error {
	if _, classed := errors.AsType[*domain.Failure](err); classed || err == nil {
		return err
	}
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("sandbox engine, %s: %w", call, err))
}
