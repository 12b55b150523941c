package traffic

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/robustness/check"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/report"
)

// A Session carries out the operations of one seed, on an engine and a model that begin
// empty.
type Session struct {
	Seed     uint64
	Trace    []string // the operations so far, with their answers
	Coverage *report.Coverage

	engine    *Engine
	model     *model.Model
	generator *Generator
}

// NewSession begins the session of a seed.
func NewSession(t testing.TB, seed uint64, c *report.Coverage) *Session {
	t.Helper()
	m := model.New(eventstoretest.Cause, epoch)
	return &Session{Seed: seed, Coverage: c, engine: NewEngine(t), model: m, generator: NewGenerator(seed, m)}
}

// tick is the time between two operations.
const tick = time.Millisecond

// every is the number of operations between two comparisons of all rows.
const every = 50

// Run carries out so many operations. It ends with the first difference.
func (s *Session) Run(ctx context.Context, operations int) error {
	for n := range operations {
		o := s.generator.Next()
		difference, err := s.step(ctx, o)
		if err == nil && difference == "" && (n%every == every-1 || o.Fault.Sort != "" || n == operations-1) {
			difference, err = s.compareRows(ctx)
		}
		if err != nil {
			return fmt.Errorf("seed %d, operation %d, %s: %w", s.Seed, n, o, err)
		}
		if difference != "" {
			return fmt.Errorf(
				"seed %d, operation %d, %s:\n%s\nthe last operations:\n%s", s.Seed, n, o, difference,
				strings.Join(s.last(), "\n"),
			)
		}
	}
	verdict, err := s.engine.Procs[0].Store.Reader().Verify(ctx, nil)
	if err == nil && (!verdict.Intact || verdict.Checked != int64(len(s.model.Events))) {
		err = fmt.Errorf("seed %d: the log is not as it was written: %+v", s.Seed, verdict)
	}
	return err
}

// last are the operations that lead to a difference.
func (s *Session) last() []string { return s.Trace[max(0, len(s.Trace)-20):] }

// step carries out one operation on both, and compares their answers, what they asked of
// the outside, and the events that they added.
func (s *Session) step(ctx context.Context, o Operation) (difference string, err error) {
	e, m, before := s.engine, s.model, len(s.model.Events)
	e.Outside.Expect(o.Answers)
	m.Outside.Expect(o.Answers)
	m.Seen = nil
	keys, failed := kinds[o.Kind].engine(ctx, e, e.Procs[o.Process], o)
	text, refused := kinds[o.Kind].model(m, o, keys)
	is, want := answer(strings.Join(keys, " "), failed), answer(text, refused)
	added, err := e.Events(ctx, int64(before))
	if err != nil {
		return "", err
	}
	s.Trace = append(s.Trace, o.String()+" = "+is)
	for _, event := range added {
		s.Trace = append(s.Trace, fmt.Sprintf("    %s/%d %s", event.Stream, event.Version, event.Name))
	}
	s.saw(o, text, refused, len(added))
	switch {
	case is != want:
		return "  engine: " + is + "\n  model:  " + want + "\n" + check.Events(added, m.Events[before:]), nil
	case !slices.Equal(e.Outside.Calls, m.Outside.Calls):
		return fmt.Sprintf("  asked of the outside\n  engine: %q\n  model:  %q", e.Outside.Calls, m.Outside.Calls), nil
	case len(e.Outside.Twice) > 0:
		return fmt.Sprintf("  done twice: %q", e.Outside.Twice), nil
	}
	if difference = check.Events(added, m.Events[before:]); difference != "" {
		return difference, nil
	}
	m.Pass(tick)
	return "", e.Pass(ctx, tick)
}

// compareRows compares every row that matters.
func (s *Session) compareRows(ctx context.Context) (string, error) {
	is, err := check.Rows(ctx, s.engine.Pool)
	return check.Difference(is, check.Model(s.model)), err
}

// answer is the answer to an operation, as a text.
func answer(text string, err error) string {
	refused := new(domain.Error)
	switch {
	case err == nil:
		return "ok " + text
	case errors.As(err, &refused):
		return string(refused.Code) + ": " + refused.Error()
	}
	return err.Error()
}

// quoted is what an answer quotes.
var quoted = regexp.MustCompile(`"[^"]*"`)

// saw counts what an operation came to.
func (s *Session) saw(o Operation, text string, err error, added int) {
	s.Coverage.Saw(s.model.Seen...)
	what := "done"
	switch {
	case err != nil:
		what = quoted.ReplaceAllString(answer("", err), "…")
	case o.Kind == "work" && text == "":
		what = "idle"
	case o.Kind == "work" && added == 0, added == 0:
		what = "nothing new"
	}
	s.Coverage.Saw(o.Kind + " = " + what)
}
