package sagas_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A ledger holds what is to be done in a queue of the story, and what has been done.
type ledger struct {
	*sagastest.World
	queue string
}

// newLedger makes the tables of a queue: items that are due, and those that were done.
func newLedger(w *sagastest.World, queue string) *ledger {
	w.T.Helper()
	_, err := w.Owner().Exec(w.T.Context(), `
		create table if not exists item (key text primary key, since timestamptz not null default real_now());
		create table if not exists done (key text not null, by text not null);
		grant select, insert, update, delete on item, done to hostpanel_app`)
	w.Must(err)
	return &ledger{w, queue}
}

func (l *ledger) queueOf(do func(context.Context, *sagas.Task[string]) (sagas.TaskEnd, error)) sagas.Queue[string] {
	return sagas.Queue[string]{
		Name: l.queue, Failed: "an item was not done", AtOnce: 4,
		Policy: sagas.TaskPolicy{Attempts: 3, Base: time.Millisecond, Cap: 2 * time.Millisecond},
		Due:    func() (string, []any) { return `select key, since from item`, nil },
		Do:     do,
	}
}

func (l *ledger) owes(keys ...string) {
	l.T.Helper()
	for _, key := range keys {
		_, err := l.Pool.Exec(l.T.Context(), `insert into item (key) values ($1)`, key)
		l.Must(err)
	}
	l.Runner.Wake(l.queue)
}

// pays does an item that is due still: it is due no more.
func (l *ledger) pays(ctx context.Context, key, by string) error {
	_, err := l.Pool.Exec(
		ctx,
		`with due as (delete from item where key = $1 returning key) insert into done (key, by) select key, $2 from due`,
		key, by,
	)
	return err
}

func (l *ledger) done(key string) int {
	return l.Count(`select count(*) from done where key = $1`, key)
}

func (l *ledger) listed() []operations.Run {
	l.T.Helper()
	all, err := l.Runner.Operators.RunsListed(
		l.T.Context(), projections.Listing{Filters: []projections.Filter{{Field: "kind", Op: "=", Value: l.queue}}},
	)
	l.Must(err)
	return all.Rows
}

// Two processes share what is due: each item is done once, and no row is left.
func TestEachTaskIsDoneOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	l := newLedger(w, "sharing")
	for i, p := range []*sagastest.Instance{w.Instance, w.Node(w.URL())} {
		sagas.AddTasks(p.Runner, l.queueOf(func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
			return sagas.TaskDone, l.pays(ctx, task.Key, fmt.Sprint(i))
		}), nil)
		w.Start(p)
	}
	for n := range 40 {
		l.owes(fmt.Sprint(n))
	}
	w.Eventually("all are done", func() bool { return w.Count(`select count(*) from item`) == 0 })
	w.Equal("done", w.Count(`select count(*) from done`), 40)
	w.Eventually("no task is left", func() bool { return w.Count(`select count(*) from task where queue = 'sharing'`) == 0 })
}

// A failure, and a panic, leads to another attempt after a pause. After the last one the task is
// parked with an incident, stops no other, and goes on when an operator retries it.
func TestATaskThatFailsIsRepeatedAndThenParked(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	l := newLedger(w, "failing")
	var mended atomic.Bool
	var mu sync.Mutex
	var attempts []int
	sagas.AddTasks(w.Runner, l.queueOf(func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
		if task.Key == "bad" && !mended.Load() {
			mu.Lock()
			attempts = append(attempts, task.Attempts)
			mu.Unlock()
			if task.Attempts == 1 {
				panic("out of order")
			}
			return sagas.TaskDone, errors.New("refused for ana@example.com")
		}
		return sagas.TaskDone, l.pays(ctx, task.Key, "story")
	}), nil)
	l.owes("bad", "good")
	w.Goes()
	trouble := operations.TaskTrouble("failing", "bad")
	w.Eventually("it is parked", func() bool { reported, _ := sagastest.Reports(w, trouble); return reported == 1 })
	w.Eventually("the other is done", func() bool { return l.done("good") == 1 })
	mu.Lock()
	w.Equal("failures before each attempt", slices.Clone(attempts), []int{0, 1, 2})
	mu.Unlock()
	w.Equal("a log line", w.Warned("an item was not done"), true)
	runs := l.listed()
	w.Equal("listed", len(runs), 1)
	w.Equal("status and key", runs[0].Status+" "+runs[0].Key, "parked failing:bad")
	w.Equal("attempts", runs[0].Attempt, 3)
	shown, err := w.Runner.Operators.RunNumbered(t.Context(), runs[0].ID)
	w.Must(err)
	w.Equal("last error", shown.Attempts[0].Error, "refused for <address>")
	w.Equal("id", runs[0].ID, sagas.TaskID("failing", "bad"))
	gauges(w, "failing", sagas.TaskGauges{Queue: "failing", Parked: 1})

	mended.Store(true)
	w.Must(w.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, runs[0].ID, "it is mended"))
	w.Eventually("it is done", func() bool { return l.done("bad") == 1 })
	_, settled := sagastest.Reports(w, trouble)
	w.Equal("settled", settled, 1)
	w.Eventually("no task is left", func() bool { return len(l.listed()) == 0 })
	w.Equal(
		"a task that is gone",
		domain.CodeOf(w.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, runs[0].ID, "again")), domain.NotFound,
	)
}

func gauges(w *sagastest.World, queue string, want sagas.TaskGauges) {
	w.T.Helper()
	all, err := w.Runner.Operators.TaskGauges(w.T.Context())
	w.Must(err)
	at := slices.IndexFunc(all, func(g sagas.TaskGauges) bool { return g.Queue == queue })
	w.Equal("figures", all[at], want)
}

// A restored panel does no task that reaches outside, until its recovery mode ends.
func TestTasksRestInRecoveryMode(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	resting, inside := newLedger(w, "resting"), newLedger(w, "inside")
	for _, l := range []*ledger{resting, inside} {
		q := l.queueOf(func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
			_, err := w.Pool.Exec(ctx, `insert into done (key, by) values ($1, $2)`, task.Key, l.queue)
			return sagas.TaskAfter(time.Hour), err
		})
		q.InRecovery = l == inside
		sagas.AddTasks(w.Runner, q, nil)
	}
	_, err := w.Owner().Exec(t.Context(), `insert into recovery (number, head, reason, is_ready) values (1, 1, 'restored', true)`)
	w.Must(err)
	inside.owes("one")
	w.Goes()
	by := func(queue string) int { return w.Count(`select count(*) from done where by = $1`, queue) }
	w.Eventually("what stays inside is done", func() bool { return by("inside") == 1 })
	w.Equal("the others", by("resting"), 0)
	_, err = w.Owner().Exec(t.Context(), `delete from recovery`)
	w.Must(err)
	w.Eventually("it is done afterwards", func() bool { return by("resting") == 1 })
}

// A group that works in one transaction is done whole. If it fails, each of its rows has its own.
func TestAGroupThatFailsIsDoneOneByOne(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	_, err := w.Owner().Exec(t.Context(), `
		create table letter (id bigint primary key, state text not null default 'stored',
			next_at timestamptz not null default business_now(),
			attempts int not null default 0, error text);
		insert into letter (id) select generate_series(1, 5);
		grant select, update on letter to hostpanel_app`)
	w.Must(err)
	letters := sagas.AddTasks(w.Runner, sagas.Queue[int64]{
		Name: "letters", Failed: "a letter was not read", Batch: 10, KeyType: "bigint",
		Policy: sagas.TaskPolicy{Attempts: 2, Base: time.Hour, Cap: time.Hour},
		Table:  sagas.Table{Name: "letter", Key: "id", Waits: "stored", Columns: "id"},
		Together: func(ctx context.Context, tx pgx.Tx, group []*sagas.Task[int64]) (func(context.Context) error, error) {
			for _, task := range group {
				if task.Row == 3 {
					return nil, errors.New("unreadable")
				}
				if _, err := tx.Exec(ctx, `update letter set state = 'done' where id = $1`, task.Row); err != nil {
					return nil, err
				}
			}
			return func(context.Context) error { return nil }, nil
		},
	}, nil)
	_, err = letters.Round(t.Context())
	w.Must(err)
	w.Equal("done", w.Count(`select count(*) from letter where state = 'done'`), 4)
	w.Equal(
		"the other",
		w.Count(`select count(*) from letter where id = 3 and state = 'stored' and attempts = 1 and error = 'unreadable'`),
		1,
	)
	_, err = w.Pool.Exec(t.Context(), `update letter set next_at = business_now() where id = 3`)
	w.Must(err)
	_, err = letters.Round(t.Context())
	w.Must(err)
	w.Equal("parked", w.Count(`select count(*) from letter where id = 3 and state = 'parked'`), 1)
	w.Must(w.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, sagas.TaskID("letters", "3"), "look again"))
	w.Equal("stored again", w.Count(`select count(*) from letter where id = 3 and state = 'stored' and attempts = 0`), 1)
}

// Work that claims for itself leaves a row only while it fails.
func TestALookThatFailsIsListedUntilItSucceeds(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var fails atomic.Bool
	fails.Store(true)
	sagas.AddTasks(w.Runner, sagas.Queue[string]{
		Name: "looks", Failed: "a look failed", Policy: sagas.TaskPolicy{Base: time.Millisecond, Cap: time.Millisecond},
		Look: func(context.Context) (sagas.Rest, error) {
			if fails.Load() {
				return sagas.Rest{}, errors.New("no light")
			}
			return sagas.Rest{For: time.Hour, Until: w.Runner.Woken("looks")}, nil
		},
	}, nil)
	l := &ledger{w, "looks"}
	w.Goes()
	w.Eventually("it is listed", func() bool {
		runs := l.listed()
		return len(runs) == 1 && runs[0].Attempt > 1 && runs[0].LastError == "no light"
	})
	fails.Store(false)
	w.Eventually("it is over", func() bool { return len(l.listed()) == 0 })
}
