package sagas

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// tasks are the rows of all queues of work that comes due by itself.
type tasks struct{ queues []*taskRows }

// taskRows are the rows of one queue's tasks, in the table task or in one of its own.
type taskRows struct {
	pool    *pgxpool.Pool
	worker  string
	queue   string
	table   Table
	keyType string

	due        func() (sql string, args []any) // nil: the rows of the table are the tasks
	leased     bool                            // otherwise they are locked
	inRecovery bool
	retry      func(ctx context.Context, cause domain.Metadata, key, reason string) error
}

// own tells whether the queue has a table of its own.
func (r *taskRows) own() bool { return r.table.Name != "" }

func (r *taskRows) name() string {
	if r.own() {
		return r.table.Name
	}
	return "task"
}

// row selects the row of a key.
func (r *taskRows) row(key string) string {
	if r.own() {
		return r.table.Key + ` = ` + key + `::text::` + r.keyType
	}
	return r.among() + ` and key = ` + key
}

// among selects the rows of the queue.
func (r *taskRows) among() string {
	if r.own() {
		return `true`
	}
	return `queue = '` + r.queue + `'`
}

// waits selects rows that wait for their time; before its end a lease keeps others away.
func (r *taskRows) waits() string {
	where := `true`
	switch {
	case !r.own():
		where = `state = 'waiting'`
	case r.table.Waits != "":
		where = `state = '` + r.table.Waits + `'`
	}
	if r.leased {
		where += ` and (lease_until is null or lease_until < real_now())`
	}
	return where
}

func (r *taskRows) mayReach() string {
	if r.inRecovery {
		return `true`
	}
	return `not in_recovery()`
}

// taskColumns are what a claim reads of each task, before the columns of its queue.
const taskColumns = `attempts, coalesce(extract(epoch from real_now() - failing_since), 0)::float8, lease_token`

// claim leases the tasks that are due first, at most limit: those that are due at a moment, nil: now.
func (r *taskRows) claim(limit int, lease time.Duration, at *time.Time) (sql string, args []any) {
	if r.own() {
		name, key := r.table.Name, r.table.Key
		return `
			update ` + name + ` set lease_token = lease_token + 1, lease_until = real_now() + $1::interval,
				worker = $2` + r.table.Claimed + `
			where ` + key + ` = any (array(select ` + key + ` from ` + name + `
				where next_at <= coalesce($4, business_now()) and ` + r.waits() + ` and ` + r.mayReach() + `
				order by next_at limit $3 for update skip locked))
			returning false, ` + key + `::text, ` + taskColumns + `, ` + r.table.Columns, []any{lease, r.worker, limit, at}
	}
	due, args := r.due()
	numbers := make([]any, 5)
	for i := range numbers {
		numbers[i] = len(args) + 1 + i
	}
	waits := r.waits()
	still := strings.NewReplacer("state", "t.state", "lease_until", "t.lease_until").Replace(waits)
	return fmt.Sprintf(`
		with due as (
			(select d.key, d.since from (`+due+`) d
				where not exists (select from task t where t.queue = $%[1]d and t.key = d.key)
				order by d.since limit $%[4]d)
			union all
			(select key, next_at from task
				where queue = $%[1]d and next_at <= coalesce($%[5]d, business_now()) and `+waits+`
				order by next_at limit $%[4]d)
		), first as (select key from due where `+r.mayReach()+` order by since, key limit $%[4]d)
		insert into task as t (queue, key, lease_until, worker)
		select distinct $%[1]d::text, key, real_now() + $%[2]d::interval, $%[3]d::text from first order by key
		on conflict (queue, key) do update set
			lease_token = excluded.lease_token, lease_until = excluded.lease_until, worker = excluded.worker
			where t.next_at <= coalesce($%[5]d, business_now()) and `+still+`
		returning xmax = 0, key, `+taskColumns+`, key::`+r.keyType, numbers...),
		append(args, r.queue, lease, r.worker, limit, at)
}

// locked locks and reads the rows that are due first, for a transaction that works on them.
func (r *taskRows) locked(limit int) (sql string, args []any) {
	name, key := r.table.Name, r.table.Key
	return `
		select false, ` + key + `::text, attempts, 0::float8, attempts::bigint, ` + r.table.Columns + ` from ` + name + `
		where next_at <= business_now() and ` + r.waits() + ` and ` + r.mayReach() + `
		order by next_at, ` + name + `.` + key + ` limit $1 for update skip locked`, []any{limit}
}

// recorded ends a task in the append of what it has done.
func (r *taskRows) recorded(key string, token int64) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key:     "task/" + r.queue + "/" + key,
		SQL:     `delete from task t using arg where t.queue = arg.queue and t.key = arg.key and t.lease_token = arg.token`,
		Columns: "queue text, key text, token bigint", Args: []any{r.queue, key, token},
		WantRows: 1, ErrIfNot: ErrFenced,
	}
}

// over deletes the row of a task that is not due any more.
func (r *taskRows) over(ctx context.Context, key string, token int64) error {
	return r.write(ctx, `delete from task where `+r.row("$1")+` and lease_token = $2`, key, token)
}

// Unfailed are the assignments that end the lease of a task, and its failures.
const Unfailed = `lease_until = null, worker = null, attempts = 0, failing_since = null, error = null`

// again makes a task due after a pause. It has failed no more than before.
func (r *taskRows) again(ctx context.Context, key string, token int64, pause time.Duration) error {
	return r.write(ctx, `update `+r.name()+` set lease_until = null, worker = null, next_at = business_now() + $3::interval
		where `+r.row("$1")+` and lease_token = $2`, key, token, pause)
}

// failed records an attempt that failed, and when the next one is; parked: there is none.
func (r *taskRows) failed(key string, token int64, text string, pause time.Duration, parked bool) eventstore.TxStatement {
	set, fence := `attempts = attempts + 1, error = $3`, `lease_token = $2`
	if r.leased {
		set += `, lease_until = null, worker = null, failing_since = coalesce(failing_since, real_now())`
	} else {
		fence = `attempts = $2 and ` + r.waits()
	}
	args := []any{key, token, text}
	if parked {
		set += `, state = 'parked'`
	} else {
		set, args = set+`, next_at = business_now() + $4::interval`, append(args, pause)
	}
	return eventstore.TxStatement{
		Key:  r.name() + `/` + key,
		SQL:  `update ` + r.name() + ` set ` + set + ` where ` + r.row("$1") + ` and ` + fence,
		Args: args, WantRows: 1, ErrIfNot: ErrSetAside,
	}
}

// write carries out a statement of the worker that has a lease.
func (r *taskRows) write(ctx context.Context, sql string, args ...any) error {
	done, err := r.pool.Exec(ctx, sql, args...)
	if err == nil && done.RowsAffected() == 0 {
		return ErrFenced
	}
	return SQLError(err, "settle a task of %s", r.queue)
}

// look records how the work of a queue that claims for itself goes; err nil: it does not fail.
func (r *taskRows) look(ctx context.Context, failure error, pause time.Duration) (err error) {
	if failure == nil {
		_, err = r.pool.Exec(ctx, `delete from task where queue = $1`, r.queue)
		return SQLError(err, "settle %s", r.queue)
	}
	_, err = r.pool.Exec(ctx, `
		insert into task as t (queue, key, attempts, failing_since, error, next_at)
		values ($1, '', 1, real_now(), $2, business_now() + $3::interval)
		on conflict (queue, key) do update set
			attempts = t.attempts + 1, error = excluded.error, next_at = excluded.next_at`,
		r.queue, Scrub(failure), pause)
	return SQLError(err, "settle %s", r.queue)
}
