package enginetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/conformance"
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
	var results []conformance.Result
	Check(t.Context(), Engine{EngineServer: engine}, "hptry", "chang", func(r conformance.Result) { results = append(results, r) })
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

// An engine whose server is behind carries nothing out for now.
type behind struct{ hosting.EngineServer }

func (behind) Create(context.Context, hosting.EngineObject) (int64, error) { return 1, nil }

func (behind) Find(_ context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	return hosting.EngineObject{Kind: kind, ID: 1, Name: name, Ref: ref}, true, nil
}

func (behind) Remove(context.Context, hosting.EngineObject) error { return nil }

func (behind) List(context.Context, string, int64) ([]hosting.EngineObject, error) { return nil, nil }

// A run makes hundreds of jobs, which a server works off for minutes: what is not carried out
// within the patience may still come, and the report says so.
func TestWhatIsNotCarriedOutInTimeIsSaidToBeLate(t *testing.T) {
	var said []string
	late := Engine{EngineServer: behind{}, Patience: time.Millisecond}
	Check(t.Context(), late, "hptry", "every kind is made", func(r conformance.Result) { said = append(said, r.Failures...) })
	const says = "is not applied within 1ms: the engine's server is behind, or stands still (--patience)"
	if all := strings.Join(said, "\n"); !strings.Contains(all, says) {
		t.Errorf("%q", all)
	}
}
