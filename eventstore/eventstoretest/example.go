package eventstoretest

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// Example runs an Example that needs a database. Examples have no [testing.TB] of their own.
func Example(run func(t testing.TB)) {
	ctx, cancel := context.WithCancel(context.Background())
	e := &example{ctx: ctx}
	defer func() {
		cancel()
		for _, cleanup := range slices.Backward(e.cleanups) {
			cleanup()
		}
	}()
	run(e)
}

// An example has of a [testing.TB] what helpers of this package call. A failure panics, which
// fails the Example.
type example struct {
	testing.TB
	ctx      context.Context //nolint:containedctx // as a test has one
	cleanups []func()
}

func (e *example) Helper()                           {}
func (e *example) Failed() bool                      { return false }
func (e *example) Context() context.Context          { return e.ctx }
func (e *example) Cleanup(f func())                  { e.cleanups = append(e.cleanups, f) }
func (e *example) Logf(string, ...any)               {}
func (e *example) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *example) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *example) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
