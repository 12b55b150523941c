package projections

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// Tables are the read tables of one database. Nothing can be read from them
// without saying for whom.
type Tables struct {
	pool    *pgxpool.Pool
	touched sync.Map // by API key: the hour in which its use was noted
}

// Open reads the tables of the database behind readers, which
// [eventstore.ConnectReaders] has opened.
func Open(readers *pgxpool.Pool) *Tables { return &Tables{pool: readers} }

// A Caller is on whose behalf is read. The zero Caller is a visitor, who sees
// what is on offer and nothing else.
type Caller struct {
	User      int64 // who has logged in
	Tenant    int64 // the caller's active tenant
	Admin     bool  // an administrator of that tenant
	Superuser bool
	KeyOwner  int64 // the owner of the storefront key in use
	System    bool  // the program itself
}

// System is the program itself: workers and the command line see everything.
var System = Caller{System: true}

// For returns what the caller may see.
func (t *Tables) For(c Caller) Scope { return scopeOver(reader{pool: t.pool, caller: c}) }

// Snapshot lets read see the tables as they are at one moment, whatever is written
// meanwhile (isolation level repeatable read). The scope holds a connection, and ends with
// read.
func (t *Tables) Snapshot(ctx context.Context, c Caller, read func(Scope) error) error {
	tx, err := t.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return fmt.Errorf("begin a snapshot: %w", eventstore.Unavailable(err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // nothing was written
	return read(scopeOver(reader{pool: tx, caller: c}))
}

// A Scope reads the tables for one caller. What the caller may not see does
// not exist: lists leave it out, and asking for it is answered like asking for
// nothing at all. Each area of the tables has a reader of its own, which stands
// beside its tables.
type Scope struct {
	caller Caller // whose rows they are
	db     *reader
}

func scopeOver(r reader) Scope { return Scope{r.caller, &r} }

// A reader asks the database on behalf of one caller.
type reader struct {
	pool     questioned
	caller   Caller
	standing *CallerCheck // that is asked for along with the first question; nil: none
}

// questioned is what questions are sent to: the database, or one transaction of it.
type questioned interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// ActingFor returns the scope of a superuser who acts for a tenant, or for
// none: 0. The scope of any other caller stays as it is.
func (s Scope) ActingFor(tenant int64) Scope {
	r := *s.db
	if r.caller.Superuser {
		r.caller.Tenant = tenant
	}
	return scopeOver(r)
}

// OfProgram is what the program itself sees, at the same moment and by the same connection.
func (s Scope) OfProgram() Scope { return scopeOver(reader{pool: s.db.pool, caller: System}) }

func (c Caller) seesAll() bool { return c.System || c.Superuser }

// SeesAll tells whether nothing is kept from the caller: the program itself, and
// superusers.
func (c Caller) SeesAll() bool { return c.seesAll() }

// SeesTenant tells whether the caller may look at what belongs to a tenant; 0: to
// none.
func (c Caller) SeesTenant(tenant int64) bool {
	return c.seesAll() || tenant != 0 && tenant == c.Tenant
}

// where are the conditions of a query, of which the first is always the scope.
type where struct {
	conditions []string
	args       []any
}

// and adds a condition in which ? stands for the argument.
func (w *where) and(condition string, arg any) {
	w.args = append(w.args, arg)
	w.conditions = append(w.conditions, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(w.args))))
}

// taking makes conditions of the filters by a field that no column has, and returns the
// others.
func (w *where) taking(filters []Filter, field, condition string) (others []Filter) {
	for _, f := range filters {
		if f.Field == field {
			w.and(condition, f.Value)
		} else {
			others = append(others, f)
		}
	}
	return others
}

// with adds arguments of what follows the conditions: each ? stands for the
// next of them.
func (w *where) with(tail string, args ...any) string {
	for _, arg := range args {
		w.args = append(w.args, arg)
		tail = strings.Replace(tail, "?", fmt.Sprintf("$%d", len(w.args)), 1)
	}
	return tail
}

// given adds a condition unless the argument is the zero value of its type.
func given[T comparable](w *where, condition string, arg T) {
	var zero T
	if arg != zero {
		w.and(condition, arg)
	}
}

func (w *where) String() string { return " where " + strings.Join(w.conditions, " and ") }

// public is the scope of tables that everybody may read.
func (Caller) public() *where { return &where{conditions: []string{"true"}} }

// operators is the scope of tables for operators only.
func (c Caller) operators() *where { return c.allOr(nothing()) }

// keyOwner is the scope of rows that belong to the owner of a storefront key.
func (c Caller) keyOwner(column string) *where {
	return c.allOr(narrowed(owned(column, c.KeyOwner)))
}

// self is the scope of accounts: one's own, or all for operators.
func (c Caller) self(column string) *where { return c.allOr(narrowed(owned(column, c.User))) }

// user is the scope of rows that belong to one user. A superuser has own ones
// too, and sees no other.
func (c Caller) user(column string) *where {
	if c.System {
		return c.public()
	}
	return narrowed(owned(column, c.User))
}

// tenant is the scope of lists of rows that belong to a tenant. A superuser
// without an active tenant sees those of all.
func (c Caller) tenant(column string) *where {
	switch w := owned(column, c.Tenant); {
	case !c.seesAll():
		return narrowed(w)
	case c.Tenant != 0:
		return w
	}
	return c.public()
}

// tenantOrAll is the scope of a single row that belongs to a tenant, of which
// superusers reach every one.
func (c Caller) tenantOrAll(column string) *where {
	return c.allOr(narrowed(owned(column, c.Tenant)))
}

func (c Caller) allOr(w *where) *where {
	if c.seesAll() {
		return c.public()
	}
	return w
}

func owned(column string, id int64) *where {
	if id == 0 {
		return nothing()
	}
	w := &where{}
	w.and(column+" = ?", id)
	return w
}

func nothing() *where { return &where{conditions: []string{"false"}} }

// ask sends questions to the database and hears the answers. It is the only
// way to it: before them goes for whom they are asked, which the rules of the
// tables look at. All of it is one round trip and one transaction, with which
// that ends (docs/security.md, "Row-level security").
func (r *reader) ask(ctx context.Context, questions func(*pgx.Batch)) error {
	return r.askPlanned(ctx, onBehalf, questions)
}

// askFitted asks questions whose best plan depends on their arguments: Postgres is free to
// choose it (docs/read-tables.md, "Plans").
func (r *reader) askFitted(ctx context.Context, questions func(*pgx.Batch)) error {
	return r.askPlanned(ctx, onBehalf+fitted, questions)
}

func (r *reader) askPlanned(ctx context.Context, settings string, questions func(*pgx.Batch)) error {
	b := &pgx.Batch{}
	b.Queue(settings, r.caller.behalf()...)
	questions(b)
	unread := r.standing.join(b)
	err := r.pool.SendBatch(ctx, b).Close()
	return eventstore.Unavailable(cmp.Or(unread(), err))
}

const onBehalf = `select set_config('` + eventstore.ForTenant + `', $1, true), set_config('` + eventstore.ForUser + `', $2, true), ` +
	`set_config('` + eventstore.ForKeyOwner + `', $3, true)`

const fitted = `, set_config('plan_cache_mode', 'auto', true), set_config('enable_seqscan', 'on', true), ` +
	`set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true)`

// behalf are the arguments of onBehalf. A superuser operates for every tenant,
// but reads no other user's own rows.
func (c Caller) behalf() []any {
	switch {
	case c.System:
		return []any{eventstore.Everybody, eventstore.Everybody, eventstore.Everybody}
	case c.Superuser:
		return []any{eventstore.Everybody, numbered(c.User), ""}
	}
	return []any{numbered(c.Tenant), numbered(c.User), numbered(c.KeyOwner)}
}

func numbered(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// list reads all rows that the conditions leave. The columns are named by the
// fields of T; tail is what follows the conditions.
func list[T any](ctx context.Context, db *reader, sql string, w *where, tail string) (found []T, err error) {
	err = db.ask(ctx, func(b *pgx.Batch) {
		b.Queue(sql+w.String()+tail, w.args...).Query(func(rows pgx.Rows) (err error) {
			found, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", nameOf[T](), err)
	}
	return found, nil
}

// into scans the one row that is found.
func into(values ...any) func(pgx.Row) error {
	return func(r pgx.Row) error { return r.Scan(values...) }
}

// value reads the one value that a query yields, as [list] reads rows.
func value[T any](ctx context.Context, db *reader, sql string, w *where, tail string) (found T, err error) {
	err = db.ask(ctx, func(b *pgx.Batch) {
		b.Queue(sql+w.String()+tail, w.args...).QueryRow(into(&found))
	})
	return found, err
}

// newest ends a query that shows the newest rows first, up to a limit.
func (w *where) newest(time, id string, limit int) string {
	if limit == 0 {
		limit = usualLimit
	}
	return w.with(fmt.Sprintf(" order by %s desc, %s desc limit ?", time, id), limit)
}

// usualLimit bounds lists that set no limit of their own.
const usualLimit = 100

// one reads the single row that the conditions leave, or refuses with
// "No {class} matches the given query."
func one[T any](ctx context.Context, db *reader, class, sql string, w *where) (T, error) {
	found, err := list[T](ctx, db, sql, w, " limit 1")
	if err == nil && len(found) == 0 {
		err = domain.Refuse(domain.NotFound, "No %s matches the given query.", class)
	}
	if err != nil {
		var none T
		return none, err
	}
	return found[0], nil
}

// maybe turns the refusal of [one] into false.
func maybe[T any](found T, err error) (T, bool, error) {
	var refusal *domain.Error
	if errors.As(err, &refusal) && refusal.Code == domain.NotFound {
		return found, false, nil
	}
	return found, err == nil, err
}

// loaded turns rows into records, one by one.
func loaded[Row, T any](load func(Row) (T, error)) func([]Row, error) ([]T, error) {
	return func(rows []Row, err error) ([]T, error) {
		found := make([]T, len(rows))
		for i, r := range rows {
			if err == nil {
				found[i], err = load(r)
			}
		}
		return found, err
	}
}

func nameOf[T any]() string { var zero T; return fmt.Sprintf("%T", zero) }
