package sagas

import (
	"context"
	"crypto/md5" //nolint:gosec // the database makes the same ids, of no secret
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
)

// Tasks are listed like runs of one step, as long as they are in work, fail, or are parked
// (docs/runs.md, "Tasks"). They have no stream: their ids follow from queue and key.

// TaskID is the id under which a task is listed.
func TaskID(queue, key string) uuid.UUID {
	return uuid.UUID(md5.Sum([]byte("task/" + queue + "/" + key))) //nolint:gosec // as above
}

// runsAndTasks is a table of all runs and all tasks that are listed.
func (s *tasks) runsAndTasks() string {
	const runs = `
		select id, key, definition, steps, order_id, about, direction, status, step, attempt, run_at, worker,
			stream_version, lease_token, created_at, '' as error
		from saga_run`
	const inWork = `case when lease_until >= real_now() then 'running' else 'waiting' end`
	parts := []string{runs}
	if slices.ContainsFunc(s.queues, func(r *taskRows) bool { return !r.own() }) {
		status := `case state when 'parked' then 'parked' else ` + inWork + ` end`
		parts = append(parts, listedTasks(`queue`, `key`, status, `worker`, `lease_token`, `coalesce(failing_since, next_at)`, `task`))
	}
	for _, r := range s.queues {
		if !r.own() {
			continue
		}
		queue, key := `'`+r.queue+`'`, r.table.Key+`::text`
		if r.leased {
			parts = append(parts, listedTasks(queue, key, inWork, `worker`, `lease_token`, `coalesce(failing_since, next_at)`,
				r.table.Name+` where attempts > 0`))
			continue
		}
		for status, where := range map[string]string{"waiting": r.waits() + ` and attempts > 0`, "parked": `state = 'parked'`} {
			parts = append(parts, listedTasks(queue, key, `'`+status+`'`, `null::text`, `0::bigint`, `next_at`,
				r.table.Name+` where `+where))
		}
	}
	return `(` + strings.Join(parts, ` union all `) + `) r`
}

func listedTasks(queue, key, status, worker, token, since, from string) string {
	return `
		select md5('task/' || ` + queue + ` || '/' || ` + key + `)::uuid, ` + queue + ` || ':' || ` + key + `,
			'` + operations.TaskDefinition + `', jsonb_build_array(jsonb_build_object('name', ` + queue + `, 'queue', ` + queue + `)),
			null::uuid, '', 'do', ` + status + `, 0, attempts, next_at,
			` + worker + `, 0::bigint, ` + token + `, ` + since + `, coalesce(error, '') from ` + from
}

// taskNumbered is the queue and the key of a task that is listed.
func (s *Operators) taskNumbered(ctx context.Context, id uuid.UUID) (r *taskRows, key, status string, err error) {
	err = s.pool.QueryRow(ctx, `select key, status from `+s.tasks.runsAndTasks()+` where id = $1 and definition = $2`,
		id, operations.TaskDefinition).Scan(&key, &status)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, "", "", ErrNoRun
	}
	if err != nil {
		return nil, "", "", SQLError(err, "read task %s", id)
	}
	queue, key, _ := strings.Cut(key, ":")
	at := slices.IndexFunc(s.tasks.queues, func(r *taskRows) bool { return r.queue == queue })
	if at < 0 {
		return nil, "", "", NotNow("The task belongs to another version of the program.")
	}
	return s.tasks.queues[at], key, status, nil
}

// retryTask makes a parked task due, with its attempts ahead of it, and settles its incident.
func (s *Operators) retryTask(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	r, key, status, err := s.taskNumbered(ctx, id)
	switch {
	case err != nil:
		return err
	case status != string(StatusParked):
		return errNotParked
	case r.retry != nil:
		return r.retry(ctx, cause, key, reason)
	}
	set := `state = 'waiting', failing_since = null`
	if r.own() {
		set = `state = '` + r.table.Waits + `'`
	}
	row := eventstore.TxStatement{
		Key: r.name() + `/` + key,
		SQL: `update ` + r.name() + ` set ` + set + `, attempts = 0, next_at = business_now()
			where ` + r.row("$1") + ` and state = 'parked'`,
		Args: []any{key}, WantRows: 1, ErrIfNot: errNotParked,
	}
	cause.ExpectedVersions = nil // of a stream, which it lacks
	_, err = s.store.ExecuteWith(ctx, ByOperator(cause, uuid.Nil), []eventstore.TxStatement{row},
		operations.TaskTrouble(r.queue, key).Settle(strings.TrimSuffix("retried: "+reason, ": "), s.now()))
	if err == nil {
		s.wakes.Wake(r.queue)
	}
	return err
}

// TaskGauges are figures of one queue of tasks (docs/runs.md, "Figures").
type TaskGauges struct {
	Queue     string
	Due       int64
	OldestDue time.Duration // how long the oldest of them has been due
	Failing   int64         // that failed at the last attempt, and are repeated
	Parked    int64
}

// TaskGauges reads the figures of the moment.
func (s *Operators) TaskGauges(ctx context.Context) ([]TaskGauges, error) {
	found := make([]TaskGauges, len(s.tasks.queues))
	b := &pgx.Batch{}
	for i, r := range s.tasks.queues {
		sql, args := r.gauges()
		b.Queue(sql, args...).QueryRow(func(row pgx.Row) error {
			var oldest float64
			err := row.Scan(&found[i].Due, &oldest, &found[i].Failing, &found[i].Parked)
			found[i].Queue, found[i].OldestDue = r.queue, Seconds(oldest)
			return err
		})
	}
	return found, SQLError(s.pool.SendBatch(ctx, b).Close(), "read the gauges of tasks")
}

func (r *taskRows) gauges() (sql string, args []any) {
	due := `select next_at as since from ` + r.name() + `
		where ` + r.among() + ` and next_at <= business_now() and ` + r.waits()
	if r.due != nil {
		var items string
		items, args = r.due()
		due += ` union all select d.since from (` + items + `) d
			where not exists (select from task t where t.queue = '` + r.queue + `' and t.key = d.key)`
	}
	parked := `0`
	if !r.own() || r.table.Waits != "" {
		parked = `(select count(*) from ` + r.name() + ` where ` + r.among() + ` and state = 'parked')`
	}
	failing := `(select count(*) from ` + r.name() + ` where ` + r.among() + ` and attempts > 0`
	if parked != `0` {
		failing += ` and ` + strings.Split(r.waits(), " and ")[0]
	}
	return fmt.Sprintf(`
		select count(*), coalesce(extract(epoch from business_now() - min(nullif(since, '-infinity'))), 0)::float8, %s), %s
		from (%s) due`, failing, parked, due), args
}
