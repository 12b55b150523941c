package traffic

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/faults"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/trips"
)

// An Operation is one thing that is asked of the engine, or that befalls it.
type Operation struct {
	Kind    string
	Process int
	ID      uuid.UUID // of the command
	Key     string    // of a run
	Name    string    // of a trip, a step or an incident
	Label   string
	Text    string
	Gate    int
	Line    int // of a trip, with its number in it
	Nth     int
	Joins   bool
	Version int
	Queue   string
	Most    int
	Paused  bool
	For     time.Duration
	Steps   []string
	Answers []trips.Answer
	Fault   faults.Fault
}

// String is the operation as a line of a trace: what it does not use is left out.
func (o Operation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s by %d", o.Kind, o.Process)
	for _, part := range []any{
		o.Key, o.Name, o.Label, o.Text, o.Queue, o.For, o.Gate, o.Line, o.Nth, o.Version, o.Joins, o.Steps, o.Answers,
		o.Fault, o.ID,
	} {
		if text := fmt.Sprint(part); text != "" && text != "0" && text != "0s" && text != "[]" && text != "false" {
			b.WriteString(" " + text)
		}
	}
	return b.String()
}

// A kind is how an operation is carried out on the model and on the engine. Both answer
// with a text; the runs that the engine has claimed are told to the model, because of
// several that are due at the same moment any may be claimed.
type kind struct {
	model  func(m *model.Model, o Operation, claimed []string) (string, error)
	engine func(ctx context.Context, e *Engine, p *Process, o Operation) ([]string, error)
}

// simple is a kind that claims no runs.
func simple(onModel func(*model.Model, Operation) error, onEngine func(context.Context, *Engine, *Process, Operation) error) kind {
	return kind{
		func(m *model.Model, o Operation, _ []string) (string, error) { return "", onModel(m, o) },
		func(ctx context.Context, e *Engine, p *Process, o Operation) ([]string, error) {
			return nil, onEngine(ctx, e, p, o)
		},
	}
}

func (o Operation) meta() domain.Metadata { return domain.Metadata{ID: o.ID, Actor: "operator:1"} }

// incident is the trouble that an operation is about.
func (o Operation) incident() operations.Trouble {
	t := operations.Trouble{Kind: operations.EngineMissing, Subject: o.Name}
	if o.Label != "" {
		t.About = map[string]string{"trip": o.Label}
	}
	return t
}

func (o Operation) stream() domain.Stream { return operations.IncidentStream(o.incident().ID()) }

// at is the time that commands carry: it may not depend on when they are repeated.
var at = epoch

// commands are those of an operation on the log, by its text.
func (o Operation) commands() (all []domain.Command) {
	for _, what := range strings.Fields(o.Text) {
		t := o.incident()
		switch what {
		case "report":
			all = append(all, t.Report(at))
		case "nonsense":
			report := t.Report(at)
			report.Kind = what
			all = append(all, report)
		case "settle":
			all = append(all, t.Settle(model.Reason, at))
		case "second":
			t.Subject += " too"
			all = append(all, t.Report(at))
		default:
			all = append(all, operations.AnswerIncident{ID: t.ID(), Answer: what, Reason: model.Reason, At: at})
		}
	}
	return all
}

func execute(versions func(Operation) domain.Versions) kind {
	return simple(func(m *model.Model, o Operation) error {
		meta := o.meta()
		meta.ExpectedVersions = versions(o)
		_, err := m.Execute(meta, o.commands()...)
		return err
	}, func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
		meta := o.meta()
		meta.ExpectedVersions = versions(o)
		_, err := p.Store.Execute(ctx, meta, o.commands()...)
		return err
	})
}

func seen(o Operation) domain.Versions { return domain.Versions{o.stream(): o.Version} }
func unseen(Operation) domain.Versions { return nil }
func (o Operation) trip() trips.Trip {
	return trips.Trip{Name: o.Name, Label: o.Label, Gate: o.Gate, Line: o.Line, Nth: o.Nth, Joins: o.Joins}
}
func (o Operation) start() sagas.Start { return trips.StartOf(o.trip(), o.Steps...) }
func (o Operation) runID() uuid.UUID   { return sagas.RunID(o.Key) }
func reported() operations.IncidentEvent {
	return operations.IncidentReported{Kind: operations.EngineMissing, At: at}
}
func none(*model.Model, Operation) error { return nil }

// direct is a command of an operator on a run.
func direct(
	what func(sagas.Run) sagas.Command,
	engine func(*sagas.Operators, context.Context, domain.Metadata, uuid.UUID, string) error,
) kind {
	return simple(
		func(m *model.Model, o Operation) error { return m.Direct(o.meta(), o.Key, what) },
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			return engine(p.Runner.Operators, ctx, o.meta(), o.runID(), model.Reason)
		})
}

// Kinds are all kinds of operations.
var kinds = map[string]kind{
	"execute": execute(unseen),
	"repeat":  execute(unseen),
	"expect":  execute(seen),
	"append": simple(
		func(m *model.Model, o Operation) error { return m.Append(o.meta(), o.stream(), o.Version, reported()) },
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			return p.Append(ctx, o.meta(), o.stream(), o.Version, reported())
		}),
	"gate": simple(
		func(m *model.Model, o Operation) error {
			_, err := m.Execute(o.meta(), o.gate())
			return err
		},
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			_, err := p.Store.Execute(ctx, o.meta(), o.gate())
			return err
		}),
	"start": simple(
		func(m *model.Model, o Operation) error { _, err := m.Start(o.meta(), o.start()); return err },
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			_, err := p.Start(ctx, o.meta(), o.start())
			return err
		}),
	"work":      {workOnModel, workOnEngine},
	"pause":     direct(model.Pause, (*sagas.Operators).Pause),
	"continue":  direct(model.Continue, (*sagas.Operators).Continue),
	"take back": direct(model.TakeBack, (*sagas.Operators).TakeBack),
	"release": simple(
		func(m *model.Model, o Operation) error { return m.Release(o.meta(), o.Key) },
		func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
			return p.Runner.Operators.Release(ctx, o.meta(), o.runID(), model.Reason)
		}),
	"pass": simple(
		func(m *model.Model, o Operation) error { return m.Direct(o.meta(), o.Key, model.Pass) },
		onRun(func(ctx context.Context, p *Process, run sagas.Run, o Operation) error {
			return p.Runner.Operators.Overrule(ctx, o.meta(), run, model.Pass(run), nil)
		})),
	"retry": simple(
		func(m *model.Model, o Operation) error { return m.Retry(o.meta(), o.Key, o.Label) },
		onRun(func(ctx context.Context, p *Process, run sagas.Run, o Operation) error {
			var corrections map[string]string
			if o.Label != "" {
				corrections = map[string]string{"label": o.Label}
			}
			return p.Runner.Operators.ResumeRun(ctx, o.meta(), run, corrections, model.Reason)
		})),
	"skip": simple(
		func(m *model.Model, o Operation) error { return m.Skip(o.meta(), o.Key, o.Name, o.Text) },
		onRun(func(ctx context.Context, p *Process, run sagas.Run, o Operation) error {
			return p.Runner.Operators.SkipStep(ctx, o.meta(), run, o.Name, o.Text, model.Reason)
		})),
	"queue": simple(
		func(m *model.Model, o Operation) error {
			m.Queues[o.Queue].Most, m.Queues[o.Queue].Paused = o.Most, o.Paused
			return nil
		},
		func(ctx context.Context, e *Engine, _ *Process, o Operation) error {
			return e.SetQueue(ctx, o.Queue, o.Most, o.Paused)
		}),
	"time": simple(
		func(m *model.Model, o Operation) error { m.Pass(o.For); return nil },
		func(ctx context.Context, e *Engine, _ *Process, o Operation) error { return e.Pass(ctx, o.For) }),
	"clock": simple(
		func(m *model.Model, o Operation) error { m.Ahead += o.For; return nil },
		func(ctx context.Context, e *Engine, p *Process, o Operation) error { return e.Advance(ctx, p, o.For) }),
	"lose": simple(
		func(m *model.Model, o Operation) error { m.Outside.Lose(o.Label); return nil },
		func(_ context.Context, e *Engine, _ *Process, o Operation) error { e.Outside.Lose(o.Label); return nil }),
	"restart": simple(none, func(_ context.Context, e *Engine, _ *Process, o Operation) error { e.Restart(o.Process); return nil }),
}

func init() { maps.Copy(kinds, inboxKinds) }

// OnModel carries an operation out on a model alone, as if its process had claimed the
// run that comes first.
func (o Operation) OnModel(m *model.Model) error {
	m.Outside.Expect(o.Answers)
	_, err := kinds[o.Kind].model(m, o, nil)
	return err
}

// gate opens a gate, or closes it.
func (o Operation) gate() domain.Command {
	if o.Text == "close" {
		return trips.GateTrouble(o.Gate).Settle(model.Reason, at)
	}
	return trips.GateTrouble(o.Gate).Report(at)
}

// onRun reads the run of an operation first, as the pages of operators do.
func onRun(do func(context.Context, *Process, sagas.Run, Operation) error) func(context.Context, *Engine, *Process, Operation) error {
	return func(ctx context.Context, _ *Engine, p *Process, o Operation) error {
		run, err := p.Runner.RunNamed(ctx, o.Key)
		if err != nil {
			return err
		}
		return do(ctx, p, run, o)
	}
}
