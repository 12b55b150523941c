package sagas

import (
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
	Row      Row
	Key      string
	Attempts int           // that failed, in a row
	Failing  time.Duration // since the first of them
	Until    time.Time     // when the work must be over

	token int64
	fresh bool // its row was made by this claim
	rows  *taskRows
}

// Recorded is the row that ends a task, for the append of what it has done. The caller returns
// [TaskRecorded].
func (t *Task[Row]) Recorded() eventstore.TxStatement { return t.rows.recorded(t.Key, t.token) }

// Token is the token of the lease, which no other claim has had.
func (t *Task[Row]) Token() int64 { return t.token }

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

// Tasks are the tasks of one queue in one process.
type Tasks[Row any] struct {
	Queue[Row]

	runner *Runner
	rows   *taskRows
	scan   func(*Row) []any
}

// AddTasks registers a queue with the runner. Scan says where the columns of a row go; nil: it
// has one, which is the row itself.
func AddTasks[Row any](s *Runner, q Queue[Row], scan func(*Row) []any) *Tasks[Row] {
	q.AtOnce = max(q.AtOnce, 1)
	q.Batch = max(q.Batch, q.AtOnce)
	q.Policy = q.Policy.or(s.times)
	if q.KeyType == "" {
		q.KeyType = "text"
	}
	if scan == nil {
		scan = func(row *Row) []any { return []any{row} }
	}
	t := &Tasks[Row]{
		Queue: q, runner: s, scan: scan,
		rows: &taskRows{
			pool: s.pool, worker: s.executor.worker, queue: q.Name, table: q.Table, keyType: q.KeyType, due: q.Due,
			leased: q.Together == nil, inRecovery: q.InRecovery, retry: q.Retry,
		},
	}
	s.tasks.queues = append(s.tasks.queues, t.rows)
	switch {
	case q.Look != nil:
		t.rows.due = func() (string, []any) { return `select null as key, null::timestamptz as since where false`, nil }
		s.loops = append(s.loops, t.follow)
	case q.Together != nil:
		s.loops = append(s.loops, t.process)
	default:
		s.loops = append(s.loops, t.serve)
	}
	return t
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

func (t *Tasks[Row]) trouble(task *Task[Row]) operations.Trouble {
	if t.Trouble != nil {
		return t.Trouble(task)
	}
	return operations.TaskTrouble(t.Name, task.Key)
}
