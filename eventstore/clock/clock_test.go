package clock_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/hints"
)

const month = 30 * 24 * time.Hour

// demo is a database whose clock has an offset.
func demo(t *testing.T) (url string) {
	t.Helper()
	url = eventstoretest.URL(t)
	must(t, clock.Install(t.Context(), eventstoretest.Owner(t, url)))
	return url
}

func TestTheClockOfProductionIsThatOfTheDatabase(t *testing.T) {
	pool := eventstoretest.Pool(t, eventstoretest.URL(t))
	for function, expression := range map[string]string{
		"business_now()": "now()", "real_now()": "now()", "real_statement()": "statement_timestamp()",
		"business_clock()": "clock_timestamp()", "real_clock()": "clock_timestamp()",
	} {
		if plan := explain(t, pool, "select "+function); !strings.Contains(plan, "Output: "+expression) {
			t.Errorf("%s is not replaced by %s:\n%s", function, expression, plan)
		}
	}
	b := clock.New(pool)
	if err := b.Advance(t.Context(), month); !errors.Is(err, clock.ErrFixed) {
		t.Errorf("the clock of production was advanced: %v", err)
	}
	must(t, b.Advanced(t.Context(), "")) // there is nothing to take over
	if b.Ahead() != 0 {
		t.Errorf("the clock is %s ahead", b.Ahead())
	}
}

func TestAnAdvanceReachesEveryProcessAndWakesItsSleepers(t *testing.T) {
	url := demo(t)
	poolThere := eventstoretest.Pool(t, url)
	here, there := clock.New(eventstoretest.Pool(t, url)), clock.New(poolThere)
	late := clock.New(eventstoretest.Pool(t, url))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	hear := hints.New(poolThere, slog.Default())
	hear.Hear(clock.Channel, there.Advanced)
	go func() { hear.Follow(ctx); close(ended) }()
	defer func() { stop(); <-ended }()

	asleep := there.Moved()
	must(t, here.Advance(t.Context(), month))
	if here.Ahead() != month {
		t.Errorf("here it is %s ahead", here.Ahead())
	}
	select {
	case <-asleep:
	case <-time.After(30 * time.Second):
		t.Fatal("the other process was not woken")
	}
	must(t, late.Load(t.Context()))
	must(t, there.Advance(t.Context(), time.Hour))
	if late.Ahead() != month || there.Ahead() != month+time.Hour {
		t.Errorf("the others are %s and %s ahead", late.Ahead(), there.Ahead())
	}
	if d := time.Until(there.Now()); d < month || d > month+2*time.Hour {
		t.Errorf("there it is %s later", d)
	}
}

func TestTheDatabaseHasTheSameOffset(t *testing.T) {
	url := demo(t)
	pool := eventstoretest.Pool(t, url)
	readers := eventstoretest.Readers(t, url)
	must(t, clock.New(pool).Advance(t.Context(), month))
	for _, db := range []*pgxpool.Pool{pool, readers, eventstoretest.Owner(t, url)} {
		for function, ahead := range map[string]time.Duration{
			"business_now() - now()": month, "real_now() - now()": 0, "real_statement() - statement_timestamp()": 0,
			"date_trunc('minute', business_clock() - clock_timestamp() + '1 second')": month,
			"date_trunc('minute', real_clock() - clock_timestamp() + '1 second')":     0,
		} {
			var got time.Duration
			must(t, db.QueryRow(t.Context(), "select "+function).Scan(&got))
			if got != ahead {
				t.Errorf("%s is %s", function, got)
			}
		}
	}
}

func TestTheClockMovesForwardsOnly(t *testing.T) {
	url := demo(t)
	pool := eventstoretest.Pool(t, url)
	b := clock.New(pool)
	must(t, b.Advance(t.Context(), month))
	if err := b.Advance(t.Context(), -time.Second); !errors.Is(err, clock.ErrBackwards) {
		t.Errorf("the clock was set back: %v", err)
	}
	must(t, clock.Install(t.Context(), eventstoretest.Owner(t, url))) // the next start of the demo
	again := clock.New(pool)
	must(t, again.Load(t.Context()))
	if again.Ahead() != month {
		t.Errorf("after another start the clock is %s ahead", again.Ahead())
	}
	if _, err := pool.Exec(t.Context(), `delete from business_clock_ahead`); err == nil {
		t.Error("the program can delete the offset")
	}
}

func TestADatabaseWhoseClockIsAheadIsRefused(t *testing.T) {
	url := demo(t)
	owner, pool := eventstoretest.Owner(t, url), eventstoretest.Pool(t, url)
	must(t, clock.New(pool).Advance(t.Context(), time.Second))
	if err := clock.Restore(t.Context(), owner); !errors.Is(err, clock.ErrAhead) {
		t.Errorf("the clock of production is a second ahead: %v", err)
	}

	url = demo(t)
	owner, pool = eventstoretest.Owner(t, url), eventstoretest.Pool(t, url)
	for range 2 {
		must(t, clock.Restore(t.Context(), owner))
		if plan := explain(t, pool, "select business_now()"); !strings.Contains(plan, "Output: now()") {
			t.Errorf("the clock of production is not back:\n%s", plan)
		}
	}
}

func TestAnIndexServesTheBusinessClock(t *testing.T) {
	eventstoretest.Measures(t)
	for name, url := range map[string]string{"production": eventstoretest.URL(t), "demo": demo(t)} {
		owner := eventstoretest.Owner(t, url)
		_, err := owner.Exec(t.Context(), `
			create table due (id int primary key, run_at timestamptz not null default business_now());
			insert into due select n, business_now() + n * interval '1 minute' from generate_series(1, 20000) n;
			create index due_run_at on due (run_at);
			analyze due`)
		must(t, err)
		plan := explain(t, owner, `select id from due where run_at <= business_now() order by run_at limit 10`)
		if !strings.Contains(plan, "Index Cond") || !strings.Contains(plan, "due_run_at") {
			t.Errorf("%s: the index is not used:\n%s", name, plan)
		}
	}
}

func explain(t *testing.T, pool *pgxpool.Pool, sql string) string {
	t.Helper()
	rows, _ := pool.Query(t.Context(), "explain (verbose, costs off) "+sql)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return strings.Join(lines, "\n")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
