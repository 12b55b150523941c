package traffic

import (
	"context"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// saga is the saga of the test, with the steps that the model has too.
func (e *Engine) saga(p *Process, definition string) sagas.Saga[trips.Trip] {
	saga := sagas.Saga[trips.Trip]{Name: strings.TrimSuffix(definition, "/1"), Definition: definition, Serial: trips.LineOf}
	for _, s := range trips.Steps {
		step := sagas.Step[trips.Trip]{
			Name: s.Name, Says: s.Name, Queue: s.Queue, Policy: s.Policy, Independent: s.Independent,
			Joins: s.Joins && definition == trips.Joining,
		}
		switch s.Kind {
		case trips.Local:
			step.Local = e.local(p, s.Name)
		case trips.Object:
			step.Effect = &sagas.Effect[trips.Trip]{Key: keyOf(s.Name), Prepare: e.object(p)}
			step.Corrections = map[string]func(*trips.Trip, string){"label": func(in *trips.Trip, value string) { in.Label = value }}
		case trips.Keyed:
			step.Effect = &sagas.Effect[trips.Trip]{Key: keyOf(s.Name), Prepare: e.keyed(s.Name)}
		case trips.Blind:
			step.Effect = &sagas.Effect[trips.Trip]{
				Key: keyOf(s.Name), Prepare: e.blind(s.Name), Lasting: true,
				Deferred: func(trips.Trip, sagas.FailedAttempt) sagas.Work { return sagas.Work{} },
			}
		case trips.Look:
			step.Wait, step.Of = e.look, "make"
		case trips.Gate:
			step.Wait = p.gate
		}
		saga.Steps = append(saga.Steps, step)
	}
	return saga
}

func keyOf(step string) func(trips.Trip) string {
	return func(in trips.Trip) string { return trips.KeyOf(step, in) }
}

func (e *Engine) local(p *Process, name string) *sagas.Local[trips.Trip] {
	if name == "open" {
		return &sagas.Local[trips.Trip]{Do: func(_ context.Context, in *trips.Trip) (sagas.Work, error) {
			report := trips.GateTrouble(in.Gate).Report(e.business())
			return sagas.Work{Commands: []domain.Command{report}, Releases: trips.GateStream(in.Gate)}, nil
		}}
	}
	return &sagas.Local[trips.Trip]{
		Do: func(ctx context.Context, in *trips.Trip) (sagas.Work, error) {
			if line, nth := trips.LineOf(*in); in.Line > 0 {
				if err := p.Runner.AfterEarlier(ctx, line, nth); err != nil {
					return sagas.Work{}, err
				}
			}
			return sagas.Work{Commands: []domain.Command{trips.NoteOf(in.Name, e.Outside.Note(in.Name), e.business())}}, nil
		},
		Undo: func(_ context.Context, in *trips.Trip) (sagas.Work, error) {
			return sagas.Work{Commands: []domain.Command{trips.Unnoted(in.Name, e.business())}}, nil
		},
	}
}

func (e *Engine) object(p *Process) func(context.Context, *trips.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *trips.Trip) (sagas.Call, error) {
		claim := trips.ClaimOf(*in)
		return sagas.Call{
			Request: map[string]string{"label": in.Label}, Claim: claim,
			Contested: func(ctx context.Context, c sagas.Contest) error {
				expire, err := trips.Contested(e.Outside, c)
				if err == nil && expire {
					err = p.Runner.ExpireClaim(ctx, c)
				}
				return err
			},
			Lookup: func(context.Context) (sagas.Result, sagas.Found, error) { return found(e.Outside.Find(claim)) },
			Do: func(context.Context) (sagas.Result, error) {
				id, err := e.Outside.Make(claim)
				return sagas.Result{External: id}, err
			},
			Undo:      func(_ context.Context, r sagas.Result) error { return e.Outside.Remove(claim, r.External) },
			Confirmed: func(r sagas.Result) sagas.Work { in.Box = r.External; return sagas.Work{} },
		}, nil
	}
}

func found(id string, is sagas.Found, err error) (sagas.Result, sagas.Found, error) {
	return sagas.Result{External: id}, is, err
}

func (e *Engine) keyed(step string) func(context.Context, *trips.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *trips.Trip) (sagas.Call, error) {
		key := trips.KeyOf(step, *in)
		return sagas.Call{
			Lookup: func(context.Context) (sagas.Result, sagas.Found, error) { return found(e.Outside.FindPayment(key)) },
			Under: func(_ context.Context, generation int) (sagas.Result, error) {
				id, err := e.Outside.Pay(key, generation)
				return sagas.Result{External: id}, err
			},
			Undo: func(_ context.Context, r sagas.Result) error { return e.Outside.Refund(key, r.External) },
		}, nil
	}
}

func (e *Engine) blind(step string) func(context.Context, *trips.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *trips.Trip) (sagas.Call, error) {
		key := trips.KeyOf(step, *in)
		return sagas.Call{Do: func(context.Context) (sagas.Result, error) { return sagas.Result{}, e.Outside.Mail(key) }}, nil
	}
}

func (e *Engine) look(_ context.Context, in *trips.Trip) (bool, sagas.Work, error) {
	ready, err := e.Outside.Ready(trips.ClaimOf(*in))
	return ready, sagas.Work{}, err
}

func (p *Process) gate(ctx context.Context, in *trips.Trip) (bool, sagas.Work, error) {
	gate := trips.GateStream(in.Gate)
	state, _, err := eventstore.Fold(ctx, p.Store, operations.Incidents, gate)
	if err == nil && !state.Open {
		err = sagas.Await(gate, "gate", 0)
	}
	return err == nil, sagas.Work{}, err
}
