// Package conformance runs the checks of a suite outside of tests, such as on a system of
// a hoster: each check is a line of a report.
package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"hostpanel/eventstore/clock"
)

// A T is a check under way: a test, or a line of a report.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

const letters = "abcdefghijklmnopqrstuvwxyz"

// NewTag draws a beginning for the names of one run.
func NewTag() string {
	tag := []byte("hp")
	for range 7 {
		tag = append(tag, letters[rand.IntN(len(letters))])
	}
	return string(tag)
}

// A Result is what one check has found. Failures is empty where it held.
type Result struct {
	Check    string
	Failures []string
	Left     []string // what could not be taken away again
	NotTried string   // why not, if so
	Took     time.Duration
}

// Held tells whether the system did what was asked of it.
func (r Result) Held() bool { return len(r.Failures) == 0 && len(r.Left) == 0 && r.NotTried == "" }

// A Trial is a check that is tried outside of tests.
type Trial struct {
	Name     string
	NotTried string // why not, if so
	Test     func(T)
	Late     func() string                         // a call that was not answered in time: failures say nothing then; nil: none is noted
	Clean    func(context.Context) (left []string) // takes away what the check has made
}

// cleaningLimit is how long cleaning goes on after the context has ended.
const cleaningLimit = 5 * time.Minute

// Run tries the check, and takes away what it has made, also when it fails or the context
// ends.
func (c Trial) Run(ctx context.Context) Result {
	r := Result{Check: c.Name, NotTried: c.NotTried}
	if r.NotTried != "" {
		return r
	}
	begun, t := clock.Now(), &line{ctx: ctx}
	var done sync.WaitGroup
	done.Go(func() { c.Test(t) }) // a goroutine, because Fatalf ends it
	done.Wait()
	r.Failures = t.failures
	if c.Late != nil && len(r.Failures) > 0 {
		if r.NotTried = c.Late(); r.NotTried != "" {
			r.Failures = nil
		}
	}
	if ctx.Err() != nil {
		r.NotTried, r.Failures = "interrupted", nil
	}
	cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaningLimit)
	defer cancel()
	r.Left = c.Clean(cleaning)
	r.Took = clock.Since(begun)
	return r
}

// Quietly is a T whose failures are not read.
func Quietly(ctx context.Context) T { return &line{ctx: ctx} }

// A line is a check without the tools of tests.
type line struct {
	ctx context.Context

	mu       sync.Mutex
	failures []string
}

// Helper does nothing.
func (*line) Helper() {}

// Context ends when the command is told to stop.
func (t *line) Context() context.Context { return t.ctx }

// Errorf notes a failure.
func (t *line) Errorf(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = append(t.failures, fmt.Sprintf(format, args...))
}

// Fatalf notes a failure and ends the check.
func (t *line) Fatalf(format string, args ...any) {
	t.Errorf(format, args...)
	runtime.Goexit()
}
