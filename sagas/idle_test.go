package sagas_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/sagas/sagastest"
)

// A pollCount counts statements by their text and arguments, which name the
// queue or the reader.
type pollCount struct {
	mu   sync.Mutex
	seen map[string]int
}

func (p *pollCount) count(sql string, args []any) {
	switch sql {
	case "begin", "begin isolation level read committed", "commit", "rollback", "-- ping":
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[fmt.Sprint(strings.Join(strings.Fields(sql), " "), args)]++
}

func (p *pollCount) sofar() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.seen)
}

// fourTimes waits until each queue has been polled four times.
func (p *pollCount) fourTimes(w *sagastest.World) {
	w.T.Helper()
	before := p.claims()
	w.Eventually("every queue is polled", func() bool {
		after := p.claims()
		for queue := range before {
			if after[queue] < before[queue]+4 {
				return false
			}
		}
		return len(before) > 1
	})
}

// claims counts the claims of each queue, which is their first argument.
func (p *pollCount) claims() map[string]int {
	n := map[string]int{}
	for q, times := range p.sofar() {
		if _, args, claims := strings.Cut(q, "from claim_runs($1, $2, $3, $4, $5, $6)) s["); claims {
			queue, _, _ := strings.Cut(args, " ")
			n[queue] += times
		}
	}
	return n
}

// N-13: a process under load sends a hundred NOTIFYs a second at most.
func TestABusyProcessNotifiesAHundredTimesASecondAtMost(t *testing.T) {
	w := sagastest.NewWorld(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Pool.Config().ConnConfig)
	w.Must(err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "listen saga_due; listen hostpanel_log")
	w.Must(err)
	heard := make(chan int, 1)
	ctx, end := context.WithCancel(t.Context())
	go func() {
		n := 0
		for ; ; n++ {
			if _, err := conn.WaitForNotification(ctx); err != nil {
				heard <- n
				return
			}
		}
	}()
	w.Goes()
	begun := time.Now()
	for n := range 200 {
		w.Must(w.Runner.Drill(t.Context(), fmt.Sprint(n)))
		for _, queue := range []string{"local", "mail", "engine:one"} {
			w.Runner.Wake(queue)
		}
	}
	w.Eventually("the drills are over", func() bool { return w.Count(`select count(*) from saga_run where status = 'done'`) == 200 })
	took := time.Since(begun)
	end()
	n := <-heard
	t.Logf("%d in %v", n, took)
	if n == 0 || float64(n) > 100*took.Seconds()+2 {
		t.Errorf("%d NOTIFYs in %v", n, took)
	}
}
