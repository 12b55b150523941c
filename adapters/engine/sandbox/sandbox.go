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
)

// Migrations make the engine's tables. They need those of package faults.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// An Engine is one server of the sandbox.
type Engine struct {
	pool    *pgxpool.Pool
	ordered *faults.Ordered
	delay   time.Duration
}

// An Option changes how the engine behaves.
type Option func(*Engine)

// Applying lets every creation be applied that much later; without it, at once.
func Applying(later time.Duration) Option { return func(e *Engine) { e.delay = later } }

// New returns the engine whose objects stand in the schema sandbox_engine.
func New(pool *pgxpool.Pool, options ...Option) *Engine {
	e := &Engine{pool: pool, ordered: faults.For(pool, "engine")}
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
// both; an empty one does not count. Several objects that match are a
// permanent failure, for nobody can say which is meant.
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
	all, err := e.query(ctx, `where kind = $1 and (name = $2 and $2 <> '' or ref = $3 and $3 <> '')
		and visible_at <= now() and gone_at > now() order by id limit 2`, kind, name, ref)
	switch {
	case err != nil:
		return hosting.EngineObject{}, false, err
	case len(all) > 1:
		return hosting.EngineObject{}, false, domain.Fail(domain.Permanent, "ambiguous", fmt.Errorf("several objects of kind %s match", kind))
	case len(all) == 0:
		return hosting.EngineObject{}, false, nil
	}
	return all[0], true, nil
}

// query reads objects; where begins with "where".
func (e *Engine) query(ctx context.Context, where string, args ...any) ([]hosting.EngineObject, error) {
	rows, err := e.pool.Query(ctx, `
		select kind, id, owner, name, ref, sent, observed, applied_at <= now() from sandbox_engine.objects `+where, args...)
	if err != nil {
		return nil, unanswered("read", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (o hosting.EngineObject, err error) {
		return o, row.Scan(&o.Kind, &o.ID, &o.Owner, &o.Name, &o.Ref, &o.Values, &o.Observed, &o.Applied)
	})
	if err != nil {
		return nil, unanswered("read", err)
	}
	return all, nil
}

// Create makes an object and returns the engine's number of it. The engine
// refuses a name that breaks its rules or is taken, and an owner that it does
// not know; passwords among the values are kept as hashes alone.
func (e *Engine) Create(ctx context.Context, o hosting.EngineObject) (id int64, err error) {
	err = e.ordered.Around(ctx, faults.Call{Call: faults.Create, Kind: o.Kind, Name: o.Name}, func(f faults.Fault) error {
		id, err = e.create(ctx, o, f)
		return err
	})
	if err == nil && id == 0 { // the engine claims to have made it
		id, err = e.unused(ctx)
	}
	if err != nil {
		return 0, err
	}
	return id, nil
}

func (e *Engine) create(ctx context.Context, o hosting.EngineObject, f faults.Fault) (int64, error) {
	rule, known := rules[o.Kind]
	if !known {
		return 0, domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no %s", o.Kind))
	}
	if err := rule.check(o); err != nil {
		return 0, domain.Fail(domain.Permanent, "invalid", err)
	}
	open, hashed, err := withoutPasswords(o.Values)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if o.ID, err = admit(ctx, tx, o); err != nil {
			return err
		}
		return e.insert(ctx, tx, o, open, hashed, f)
	})
	return o.ID, unanswered("create", err)
}

const nextID = `nextval('sandbox_engine.objects_id_seq')`

// admit takes the turn of the name, so that of two equal creations one is
// refused, looks whether there is room for the object, and gives it a number.
func admit(ctx context.Context, tx pgx.Tx, o hosting.EngineObject) (id int64, err error) {
	var taken, owned bool
	questions := &pgx.Batch{}
	questions.Queue(`select pg_advisory_xact_lock(hashtextextended('sandbox_engine/' || $1 || '/' || $2, 0))`, o.Kind, o.Name)
	questions.Queue(`
		select exists (select from sandbox_engine.objects where kind = $1 and name = $2 and gone_at > now()),
		       $3 = 0 or exists (select from sandbox_engine.objects where kind = 'tenant' and id = $3 and gone_at > now() for key share),
		       `+nextID, o.Kind, o.Name, o.Owner).
		QueryRow(func(row pgx.Row) error { return row.Scan(&taken, &owned, &id) })
	err = tx.SendBatch(ctx, questions).Close()
	switch {
	case err != nil:
		return 0, err
	case taken:
		return 0, domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("there is a %s with this name already", o.Kind))
	case !owned:
		return 0, domain.Fail(domain.Permanent, "owner_missing", errors.New("the owning client does not exist"))
	}
	return id, nil
}

func (e *Engine) insert(ctx context.Context, tx pgx.Tx, o hosting.EngineObject, open field.Values, hashed map[string]string, f faults.Fault) error {
	seen, gone := f.Fate()
	_, err := tx.Exec(ctx, `
		with made as (
			insert into sandbox_engine.objects (kind, id, owner, name, ref, sent, observed, secrets, applied_at, visible_at, gone_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, now() + $9::interval, now() + coalesce($10::interval, '0'), coalesce(now() + $11::interval, 'infinity')))
		insert into sandbox_engine.creations (kind, name, ref, id) values ($1, $4, $5, $2)`,
		o.Kind, o.ID, o.Owner, o.Name, o.Ref, open, rules[o.Kind].observed(o), hashed, e.delay, seen, gone)
	return err
}

// unused draws a number that no object will ever have.
func (e *Engine) unused(ctx context.Context) (id int64, err error) {
	err = e.pool.QueryRow(ctx, `select `+nextID).Scan(&id)
	return id, unanswered("create", err)
}

// unanswered makes an error of the database what it would be with a real
// engine: no answer. Failures pass.
func unanswered(call string, err error) error {
	if _, classed := errors.AsType[*domain.Failure](err); classed || err == nil {
		return err
	}
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("sandbox engine, %s: %w", call, err))
}
