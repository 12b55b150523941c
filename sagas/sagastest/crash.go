package sagastest

import (
	"fmt"
	"sync"

	"github.com/google/uuid"

	"hostpanel/sagas"
)

// A Crash kills the worker of one order once, at one point of one step.
type Crash struct {
	Kind, Step string
	At         sagas.Point
	Made       bool // the object outside is there by then
}

// Deaths kill workers as planned, each once. K says whose plan it is.
type Deaths[K comparable] struct {
	w     *World
	mu    sync.Mutex
	plans map[K]Crash // those to come
}

// NewDeaths plans none yet.
func NewDeaths[K comparable](w *World) *Deaths[K] {
	return &Deaths[K]{w: w, plans: map[K]Crash{}}
}

// Plan plans the death of one worker.
func (d *Deaths[K]) Plan(whose K, c Crash) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plans[whose] = c
}

// At is the end of a worker, if one is planned at this point of its step.
func (d *Deaths[K]) At(whose K, step string, at sagas.Point, made bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if c, planned := d.plans[whose]; !planned || c.Step != step || c.At != at || c.Made != made && at == sagas.Sent {
		return nil
	}
	delete(d.plans, whose)
	return sagas.ErrKilled
}

// Came waits until all have happened. A worker that dies after its last write dies after
// others can read it.
func (d *Deaths[K]) Came() {
	d.w.T.Helper()
	d.w.Eventually("every worker has died as planned", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.plans) == 0
	})
}

// OnlyOnce checks that nothing was made twice for an order (V9, N-9).
func (w *World) OnlyOnce(id uuid.UUID) {
	w.T.Helper()
	run := w.Provision(id)
	if n := w.Compute.Creations(id.String()); run.Job.VM != 0 && n != 1 {
		w.T.Errorf("order %s made %d machines", id, n)
	}
	if run.Job.Type == "hosting" {
		if n := w.Engine.Creations(fmt.Sprintf("tenant/t%d", run.Job.Tenant)); n != 1 {
			w.T.Errorf("order %s made %d clients", id, n)
		}
	}
}
