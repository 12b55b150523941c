package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Create makes an object and returns the engine's number of it. The engine
// refuses a name that breaks its rules or is taken, and what the object shall
// belong to if it does not exist or belongs to another client; secrets are kept
// as hashes alone. A certificate that its site has already is ordered anew
// instead.
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

func (e *Engine) create(ctx context.Context, o hosting.EngineObject, f faults.Fault) (id int64, err error) {
	rule, err := ruleOf(o.Kind)
	if err != nil {
		return 0, err
	}
	if err := rule.admits(o); err != nil {
		return 0, err
	}
	hashes, err := hashed(&o)
	if err != nil {
		return 0, err
	}
	if !rule.provided(hashes) {
		return 0, domain.Fail(domain.Permanent, "secret_needed", fmt.Errorf("a new %s needs a secret", o.Kind))
	}
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		id, err = e.make(ctx, tx, rule, o, hashes, f)
		return err
	})
	return id, unanswered("create", err)
}

// admits tells whether an object is one of the engine's, looked at by itself.
func (r rule) admits(o hosting.EngineObject) error {
	if o.Owner < 1 && o.Kind != tenant {
		return errNoOwner
	}
	if err := r.check(o); err != nil {
		return domain.Fail(domain.Permanent, "invalid", err)
	}
	return nil
}

// provided tells whether a new object comes with the secret that it needs. A
// shell user may have a key instead, which is none.
func (r rule) provided(hashes map[string]string) bool {
	if r.secret == "" {
		return true
	}
	_, given := hashes[r.secret]
	return given
}

func (e *Engine) make(
	ctx context.Context, tx pgx.Tx, rule rule, o hosting.EngineObject, hashes map[string]string, f faults.Fault,
) (int64, error) {
	there, id, err := admit(ctx, tx, o)
	if err != nil {
		return 0, err
	}
	if there != 0 && rule.issued {
		o.ID = there
		return there, e.alter(ctx, tx, rule, o, hashes, f)
	}
	if there != 0 {
		return 0, rule.occupied(o.Kind)
	}
	parent, err := rule.parent(ctx, tx, o)
	if err != nil {
		return 0, err
	}
	o.ID = id
	if o.Observed, err = rule.remark(o, parent); err != nil {
		return 0, err
	}
	applied := e.delay
	if rule.issued {
		applied = e.order(&o)
	}
	return id, insert(ctx, tx, o, hashes, applied, f)
}

const nextID = `nextval('sandbox_engine.objects_id_seq')`

// admit takes the turn of the name, so that of two equal creations one is
// refused, looks whether the name is free and the owner there, and draws a number.
func admit(ctx context.Context, tx pgx.Tx, o hosting.EngineObject) (there, id int64, err error) {
	var owner bool
	questions := &pgx.Batch{}
	questions.Queue(turn, o.Kind, o.Name)
	questions.Queue(`
		select coalesce((select id from sandbox_engine.objects where kind = $1 and name = $2 and gone_at > real_now() limit 1), 0),
		       $3 = 0 or exists (select from sandbox_engine.objects
		       	where kind = '`+tenant+`' and id = $3 and gone_at > real_now() for key share),
		       `+nextID, o.Kind, o.Name, o.Owner).
		QueryRow(func(row pgx.Row) error { return row.Scan(&there, &owner, &id) })
	err = tx.SendBatch(ctx, questions).Close()
	if err == nil && !owner {
		err = errNoOwner
	}
	return there, id, err
}

const turn = `select pg_advisory_xact_lock(hashtextextended('sandbox_engine/' || $1 || '/' || $2, 0))`

func (r rule) occupied(kind string) error {
	code := "name_taken"
	if r.taken != "" {
		code = r.taken
	}
	return domain.Fail(domain.Permanent, code, fmt.Errorf("there is a %s with this name already", kind))
}

// parent reads what an object belongs to, and keeps it from going meanwhile. A
// database may belong to a site.
func (r rule) parent(ctx context.Context, tx pgx.Tx, o hosting.EngineObject) (parent hosting.EngineObject, err error) {
	if r.under == "" {
		return parent, nil
	}
	id := o.Parents[fieldOf(r.under)]
	if id == 0 && r.loose {
		return parent, nil
	}
	parent, err = locked(ctx, tx, r.under, id, "key share")
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return parent, domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("%s %d is not there", r.under, id))
	case err != nil:
		return parent, err
	case parent.Owner != o.Owner, r.fits != nil && !r.fits(o, parent):
		return parent, drifted(r.under, id)
	}
	return parent, nil
}

func drifted(kind string, id int64) error {
	return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s %d at the engine is not the one that the panel knows", kind, id))
}

// locked reads an object that is there, whether look-ups see it yet or not.
func locked(ctx context.Context, tx pgx.Tx, kind string, id int64, how string) (hosting.EngineObject, error) {
	rows, err := tx.Query(
		ctx,
		`select `+columns+` from sandbox_engine.objects where kind = $1 and id = $2 and gone_at > real_now() for `+how,
		kind, id,
	)
	if err != nil {
		return hosting.EngineObject{}, err
	}
	return pgx.CollectExactlyOneRow(rows, whole)
}

func insert(ctx context.Context, tx pgx.Tx, o hosting.EngineObject, hashes map[string]string, applied time.Duration, f faults.Fault) error {
	seen, gone := f.Fate()
	_, err := tx.Exec(ctx, `
		with made as (
			insert into sandbox_engine.objects (kind, id, owner, name, ref, parents, sent, observed, secrets, applied_at,
				visible_at, gone_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, real_now() + $10::interval, real_now() + coalesce($11::interval,
				'0'), coalesce(real_now() + $12::interval, 'infinity')))
		insert into sandbox_engine.creations (kind, name, ref, id) values ($1, $4, $5, $2)`,
		o.Kind, o.ID, o.Owner, o.Name, o.Ref, parentsOf(o), o.Values, o.Observed, hashes, applied, seen, gone)
	return err
}

func parentsOf(o hosting.EngineObject) json.RawMessage {
	if len(o.Parents) == 0 {
		return json.RawMessage(`{}`)
	}
	raw, _ := json.Marshal(o.Parents) // numbers have no errors
	return raw
}

// unused draws a number that no object will ever have.
func (e *Engine) unused(ctx context.Context) (id int64, err error) {
	err = e.pool.QueryRow(ctx, `select `+nextID).Scan(&id)
	return id, unanswered("create", err)
}
