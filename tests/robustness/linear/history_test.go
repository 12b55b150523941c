// Package linear records what real clients of the engine saw, and lets porcupine decide
// whether one order of all their calls explains it (docs/reliability.md, "Linearizability").
package linear

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A history is what clients asked and what they were told, with the times of both.
type history struct {
	began time.Time
	mu    sync.Mutex
	calls []porcupine.Operation
}

func newHistory() *history { return &history{began: time.Now()} }

func (h *history) now() int64 { return int64(time.Since(h.began)) }

// answered adds a call with the answer that has just come.
func (h *history) answered(client int, asked any, since int64, answer any) {
	h.add(client, asked, since, answer, h.now())
}

func (h *history) add(client int, asked any, since int64, answer any, until int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: asked, Call: since, Output: answer, Return: until})
}

// doubt is a call whose client got no answer. It may take place at any later time.
type doubt struct {
	client int
	asked  any
	since  int64
}

// ever is the time of an answer that never came.
const ever = int64(1) << 62

// settle asks of each call in doubt whether it took place, once nothing runs any more.
func (h *history) settle(doubts []doubt, outcome func(asked any) (answer any, happened bool)) (happened int) {
	for _, d := range doubts {
		if answer, did := outcome(d.asked); did {
			happened++
			h.add(d.client, d.asked, d.since, answer, ever)
		}
	}
	return happened
}

// patience bounds the decision about one history.
const patience = 2 * time.Minute

// explained fails the test unless one order of all calls explains all answers. Then a
// picture of the history is in a file.
func (h *history) explained(t *testing.T, model porcupine.Model) {
	t.Helper()
	verdict, info := porcupine.CheckOperationsVerbose(model, h.calls, patience)
	if verdict == porcupine.Ok {
		return
	}
	picture := filepath.Join(os.TempDir(), fmt.Sprintf("hostpanel-linear-%d.html", time.Now().UnixNano()))
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		t.Error(err)
	}
	t.Errorf("no order of the %d calls explains what clients saw (%s); see %s", len(h.calls), verdict, picture)
	h.tell(t, model, info)
}

// tell names the first call that the longest explanation leaves out.
func (h *history) tell(t *testing.T, model porcupine.Model, info porcupine.LinearizationInfo) {
	t.Helper()
	var longest []porcupine.Operation
	for _, part := range slices.Concat(info.PartialLinearizationsOperations()...) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	rest := slices.DeleteFunc(slices.Clone(h.calls), func(c porcupine.Operation) bool {
		return slices.ContainsFunc(longest, func(e porcupine.Operation) bool { return e.ClientId == c.ClientId && e.Call == c.Call })
	})
	if len(rest) > 0 {
		first := slices.MinFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
		t.Logf(
			"%d calls are explained; what follows is not: client %d, %s", len(longest), first.ClientId,
			model.DescribeOperation(first.Input, first.Output),
		)
	}
}

// linearizable tells whether one order of all calls explains all answers.
func (h *history) linearizable(model porcupine.Model) bool {
	return porcupine.CheckOperationsTimeout(model, h.calls, patience) == porcupine.Ok
}

// rounds is how often each story is told, with other choices: ROUNDS, or once.
func rounds(t *testing.T, story func(t *testing.T, random *rand.Rand)) {
	n, seed := setting("ROUNDS", 1), setting("SEED", uint64(time.Now().UnixNano()))
	for round := range n {
		t.Run(strconv.FormatUint(round+1, 10), func(t *testing.T) {
			t.Logf("ROUNDS=1 SEED=%d repeats the choices of this round", seed+round)
			story(t, rand.New(rand.NewPCG(seed+round, 1)))
		})
	}
}

func setting(name string, usual uint64) uint64 {
	if set, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return set
	}
	return usual
}
