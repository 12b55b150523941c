package enginetest

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Result is what one check has found. Failures is empty where it held.
type Result struct {
	Check    string
	Failures []string
	Left     []string // what could not be taken away again
	NotTried string   // why not, if so
	Took     time.Duration
}

// Held tells whether the engine did what was asked of it.
func (r Result) Held() bool { return len(r.Failures) == 0 && len(r.Left) == 0 && r.NotTried == "" }

// Check tries an engine that is in use, and tells each result. All names begin
// with the tag. What a check makes it takes away, also when it fails or the
// context ends.
func Check(ctx context.Context, e Engine, tag string, only string, tell func(Result)) {
	for i, c := range checks {
		if ctx.Err() != nil {
			return
		}
		if only == "" || strings.Contains(c.name, only) {
			of := e
			of.EngineServer = &timekeeper{EngineServer: e.EngineServer}
			tell(c.try(ctx, newWorld(&trial{ctx: ctx}, of, tagOf(tag, i))))
		}
	}
}

// tagOf begins the names of one check, so that what another one has left is not in its way.
func tagOf(tag string, check int) string { return tag + strconv.Itoa(check) }

// Clean takes away what the checks of a tag have left, and tells what it could
// not.
func Clean(ctx context.Context, e Engine, tag string) (left []string) {
	for i := range checks {
		left = append(left, newWorld(&trial{ctx: ctx}, e, tagOf(tag, i)).clean(ctx)...)
	}
	return append(left, newWorld(&trial{ctx: ctx}, e, tag).clean(ctx)...)
}

// cleaningLimit is how long cleaning goes on after the context has ended.
const cleaningLimit = 5 * time.Minute

func (c check) try(ctx context.Context, w *world) Result {
	r := Result{Check: c.name}
	if c.needs != nil {
		r.NotTried = c.needs(w.Engine)
	}
	if r.NotTried != "" {
		return r
	}
	begun := time.Now()
	t, _ := w.T.(*trial)
	var done sync.WaitGroup
	done.Go(func() { c.test(w) }) // a goroutine, because Fatalf ends it
	done.Wait()
	r.Failures = t.failures
	if late := w.EngineServer.(*timekeeper).unanswered(); late != "" && len(r.Failures) > 0 { //nolint:forcetypeassert // made by Check
		r.NotTried, r.Failures = late, nil
	}
	if ctx.Err() != nil {
		r.NotTried, r.Failures = "interrupted", nil
	}
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaningLimit)
	defer cancel()
	r.Left = w.clean(cleaning)
	r.Took = time.Since(begun)
	return r
}

// A trial is a check without the tools of tests.
type trial struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
}

// Helper does nothing.
func (*trial) Helper() {}

// Context ends when the command is told to stop.
func (t *trial) Context() context.Context { return t.ctx }

// Errorf notes a failure.
func (t *trial) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// Fatalf notes a failure and ends the check.
func (t *trial) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}
