package sagas

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
)

// Work that comes due by itself is a task of a queue (docs/sagas.md, "Tasks"). An area
// says what is due and does it; the runner claims, leases, repeats and parks it.

// A Queue is one kind of such work. Row is what a claim reads of a task; a queue without a
// table of its own reads its key.
type Queue[Row any] struct {
	Name   string // in lists, figures and wake-ups: "renewals"
	Failed string // what a log line says of an attempt that failed: "a subscription was not renewed"
	AtOnce int    // tasks that one process works on at a time; 0: 1
	Batch  int    // tasks in one claim; 0: AtOnce
	Policy TaskPolicy

	InRecovery bool // also while a restored panel keeps from reaching outside

	// Due is a query of the items that are due, with the columns key and since. Each gets a row in
	// the table task while it is in work, has failed, or is parked. Do looks whether it is due still:
	// it may just have been done. Nil: the rows of Table are the tasks.
	Due     func() (sql string, args []any)
	KeyType string // of the key in Postgres; "": text
	Table   Table

	// Do works on one task under a lease. Load, if any, reads what a group of them needs.
	Do   func(context.Context, *Task[Row]) (TaskEnd, error)
	Load func(context.Context, []*Task[Row]) error
	// Together, in place of Do, works on a group of locked rows in one transaction. What it returns
	// is called after the commit.
	Together func(context.Context, pgx.Tx, []*Task[Row]) (after func(context.Context) error, err error)
	// Look, in place of Do, claims and does what is due by itself, in one transaction.
	Look func(context.Context) (Rest, error)

	// Origin is what the work on a task follows from, if it does not say so itself.
	Origin func(*Task[Row]) domain.Origin
	// Trouble is the incident of a parked task; nil: one of its queue and key.
	Trouble func(*Task[Row]) operations.Trouble
	// Retry makes a parked task due on an operator's request; nil: its row alone says so.
	Retry func(ctx context.Context, cause domain.Metadata, key, reason string) error
}

// A TaskPolicy says how long a task is leased, and how attempts at it are repeated.
type TaskPolicy struct {
	Look      time.Duration // between two looks for tasks without a wake-up; 0: [Times.Poll]
	Lease     time.Duration // 0: [Times.Lease]
	Base, Cap time.Duration // of the pause after a failure
	Attempts  int           // in a row, before an operator has to decide; 0: it is repeated for ever
}

// A Table is one whose rows are the tasks of a queue. It has the columns next_at, attempts and
// error, and for [Queue.Do] lease_token, lease_until, worker and failing_since as well.
type Table struct {
	Name, Key string
	Waits     string // the state of a row that waits for its time; "": there is no column state
	Columns   string // that a claim reads, besides
	Claimed   string // further assignments of a claim
}

// A Task is a row that a worker has claimed.
type Task[Row any] struct {
	Row Row
	TaskLease
}

// A TaskLease is a claimed task without its row: its key, its attempts and its lease.
type TaskLease struct {
	Key      string
	Attempts int           // that failed, in a row
	Failing  time.Duration // since the first of them
	Until    time.Time     // when the work must be over

	token int64
	fresh bool // its row was made by this claim
	rows  *taskRows
	task  any // the [Task] of this lease
}

// Recorded is the row that ends a task, for the append of what it has done. The caller returns
// [TaskRecorded].
func (l *TaskLease) Recorded() eventstore.TxStatement { return l.rows.recorded(l.Key, l.token) }

// Token is the token of the lease, which no other claim has had.
func (l *TaskLease) Token() int64 { return l.token }

// A TaskEnd says what becomes of a task without a failure.
type TaskEnd struct {
	how   string
	pause time.Duration
}

var (
	// TaskDone ends a task: it is not due any more.
	TaskDone = TaskEnd{how: "done"}
	// TaskRecorded is [TaskDone] with the row written already, by the append of what was done.
	TaskRecorded = TaskEnd{how: "recorded"}
	// TaskIdle says that nothing was to be done.
	TaskIdle = TaskEnd{how: "idle"}
)

// TaskAfter makes a task due again after a pause, without a failure.
func TaskAfter(pause time.Duration) TaskEnd { return TaskEnd{how: "again", pause: pause} }

// A Rest lasts for a while, or until its channel is closed or written to.
type Rest struct {
	For   time.Duration
	Until <-chan struct{}
}

// Tasks are the tasks of one queue in one process. The type of the rows is known to the functions
// alone: a generic type is compiled again in each package that sees it.
type Tasks struct {
	name, failed  string
	atOnce, batch int
	policy        TaskPolicy

	scan     func(pgx.CollectableRow) (*TaskLease, error)
	do       func(context.Context, *TaskLease) (TaskEnd, error)
	load     func(context.Context, []*TaskLease) error // nil: nothing is read before
	together func(context.Context, pgx.Tx, []*TaskLease) (after func(context.Context) error, err error)
	look     func(context.Context) (Rest, error)
	origin   func(*TaskLease) domain.Origin // nil: the work says so itself
	trouble  func(*TaskLease) operations.Trouble

	runner *Runner
	rows   *taskRows
}

// AddTasks registers a queue with the runner. Scan says where the columns of a row go; nil: it
// has one, which is the row itself.
func AddTasks[Row any](s *Runner, q Queue[Row], scan func(*Row) []any) *Tasks {
	if scan == nil {
		scan = func(row *Row) []any { return []any{row} }
	}
	rows := &taskRows{
		pool: s.pool, worker: s.executor.worker, queue: q.Name, table: q.Table, keyType: cmp.Or(q.KeyType, "text"), due: q.Due,
		leased: q.Together == nil, inRecovery: q.InRecovery, retry: q.Retry,
	}
	t := &Tasks{
		name: q.Name, failed: q.Failed, atOnce: max(q.AtOnce, 1), policy: q.Policy.or(s.times), look: q.Look,
		scan: func(row pgx.CollectableRow) (*TaskLease, error) {
			task := new(Task[Row])
			task.task, task.rows = task, rows
			return &task.TaskLease, task.scan(row, scan(&task.Row))
		},
		do:      func(ctx context.Context, l *TaskLease) (TaskEnd, error) { return q.Do(ctx, of[Row](l)) },
		trouble: func(l *TaskLease) operations.Trouble { return operations.TaskTrouble(q.Name, l.Key) },
		runner:  s, rows: rows,
	}
	t.batch = max(q.Batch, t.atOnce)
	if q.Load != nil {
		t.load = func(ctx context.Context, group []*TaskLease) error { return q.Load(ctx, allOf[Row](group)) }
	}
	if q.Together != nil {
		t.together = func(ctx context.Context, tx pgx.Tx, group []*TaskLease) (func(context.Context) error, error) {
			return q.Together(ctx, tx, allOf[Row](group))
		}
	}
	if q.Origin != nil {
		t.origin = func(l *TaskLease) domain.Origin { return q.Origin(of[Row](l)) }
	}
	if q.Trouble != nil {
		t.trouble = func(l *TaskLease) operations.Trouble { return q.Trouble(of[Row](l)) }
	}
	t.register()
	return t
}

// of is the task of a lease.
func of[Row any](l *TaskLease) *Task[Row] { return l.task.(*Task[Row]) }

func allOf[Row any](group []*TaskLease) []*Task[Row] {
	all := make([]*Task[Row], len(group))
	for i, l := range group {
		all[i] = of[Row](l)
	}
	return all
}

// register adds the loop of the tasks to the runner.
func (t *Tasks) register() {
	t.runner.tasks.queues = append(t.runner.tasks.queues, t.rows)
	loop := t.serve
	switch {
	case t.look != nil:
		t.rows.due = func() (string, []any) { return `select null as key, null::timestamptz as since where false`, nil }
		loop = t.follow
	case t.together != nil:
		loop = t.process
	}
	t.runner.loops = append(t.runner.loops, loop)
}

func (p TaskPolicy) or(t Times) TaskPolicy {
	for _, d := range []struct {
		of        *time.Duration
		otherwise time.Duration
	}{{&p.Look, t.Poll}, {&p.Lease, t.Lease}, {&p.Base, t.LocalBase}, {&p.Cap, t.LocalCap}} {
		if *d.of == 0 {
			*d.of = d.otherwise
		}
	}
	return p
}
