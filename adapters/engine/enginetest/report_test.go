package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// An overloaded engine answers the first creation too late, and refuses all others.
type overloaded struct {
	hosting.EngineServer

	names []string
}

func (e *overloaded) Create(_ context.Context, o hosting.EngineObject) (int64, error) {
	e.names = append(e.names, o.Name)
	if len(e.names) == 1 {
		return 0, domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("client_add: %w", context.DeadlineExceeded))
	}
	return 0, domain.Fail(domain.Permanent, "invalid", errors.New("it refuses everything"))
}

func (e *overloaded) Find(context.Context, string, string, string) (o hosting.EngineObject, is bool, err error) {
	return o, false, nil
}

// A check whose call was not answered in time says nothing about the engine, and is in the
// way of no other: each has names of its own.
func TestOneCallThatIsNotAnsweredCostsOneCheck(t *testing.T) {
	engine := &overloaded{}
	var results []Result
	Check(t.Context(), Engine{EngineServer: engine}, "hptry", "chang", func(r Result) { results = append(results, r) })
	const late = "to create a tenant was not answered, took"
	if len(results) < 3 || results[0].Failures != nil || !strings.Contains(results[0].NotTried, late) {
		t.Fatalf("%+v", results)
	}
	for _, r := range results[1:] {
		if r.NotTried != "" && r.NotTried != "answers cannot be lost here" || r.NotTried == "" && len(r.Failures) == 0 {
			t.Errorf("%+v", r)
		}
	}
	seen := map[string]bool{}
	for _, name := range engine.names {
		if seen[name] || !strings.HasPrefix(name, "hptry") {
			t.Errorf("%q among %q", name, engine.names)
		}
		seen[name] = true
	}
}
