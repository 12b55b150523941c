package sagas_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"

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
