package traffic

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/model"
)

// saga is the saga of the test, with the steps that the model has too.
func (e *Engine) saga(p *Process) sagas.Saga[model.Trip] {
	saga := sagas.Saga[model.Trip]{Name: "trip", Definition: "trip/1", Serial: model.LineOf}
	for _, s := range model.Steps {
		step := sagas.Step[model.Trip]{Name: s.Name, Says: s.Name, Queue: s.Queue, Policy: s.Policy, Independent: s.Independent}
		switch s.Kind {
		case model.Local:
			step.Local = e.local(p, s.Name)
		case model.Object:
			step.Effect = &sagas.Effect[model.Trip]{Key: keyOf(s.Name), Prepare: e.object(p)}
			step.Corrections = map[string]func(*model.Trip, string){"label": func(in *model.Trip, value string) { in.Label = value }}
		case model.Keyed:
			step.Effect = &sagas.Effect[model.Trip]{Key: keyOf(s.Name), Prepare: e.keyed(s.Name)}
		case model.Blind:
			step.Effect = &sagas.Effect[model.Trip]{
				Key: keyOf(s.Name), Prepare: e.blind(s.Name), Lasting: true,
				Deferred: func(model.Trip, sagas.FailedAttempt) sagas.Work { return sagas.Work{} },
			}
		case model.Look:
			step.Wait, step.Of = e.look, "make"
		case model.Gate:
			step.Wait = p.gate
		}
		saga.Steps = append(saga.Steps, step)
	}
	return saga
}

func keyOf(step string) func(model.Trip) string {
	return func(in model.Trip) string { return model.KeyOf(step, in) }
}

func (e *Engine) local(p *Process, name string) *sagas.Local[model.Trip] {
	if name == "open" {
		return &sagas.Local[model.Trip]{Do: func(_ context.Context, in *model.Trip) (sagas.Work, error) {
			report := model.GateTrouble(in.Gate).Report(e.business())
			return sagas.Work{Commands: []domain.Command{report}, Releases: model.GateStream(in.Gate)}, nil
		}}
	}
	return &sagas.Local[model.Trip]{
		Do: func(ctx context.Context, in *model.Trip) (sagas.Work, error) {
			if line, nth := model.LineOf(*in); in.Line > 0 {
				if err := p.Runner.AfterEarlier(ctx, line, nth); err != nil {
					return sagas.Work{}, err
				}
			}
			return sagas.Work{Commands: []domain.Command{model.NoteOf(in.Name, e.Outside.Note(in.Name), e.business())}}, nil
		},
		Undo: func(_ context.Context, in *model.Trip) (sagas.Work, error) {
			return sagas.Work{Commands: []domain.Command{model.Unnoted(in.Name, e.business())}}, nil
		},
	}
}

func (e *Engine) object(p *Process) func(context.Context, *model.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *model.Trip) (sagas.Call, error) {
		claim := model.ClaimOf(*in)
		return sagas.Call{
			Request: map[string]string{"label": in.Label}, Claim: claim,
			Contested: func(ctx context.Context, c sagas.Contest) error {
				expire, err := model.Contested(e.Outside, c)
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

func (e *Engine) keyed(step string) func(context.Context, *model.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *model.Trip) (sagas.Call, error) {
		key := model.KeyOf(step, *in)
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

func (e *Engine) blind(step string) func(context.Context, *model.Trip) (sagas.Call, error) {
	return func(_ context.Context, in *model.Trip) (sagas.Call, error) {
		key := model.KeyOf(step, *in)
		return sagas.Call{Do: func(context.Context) (sagas.Result, error) { return sagas.Result{}, e.Outside.Mail(key) }}, nil
	}
}

func (e *Engine) look(_ context.Context, in *model.Trip) (bool, sagas.Work, error) {
	ready, err := e.Outside.Ready(model.ClaimOf(*in))
	return ready, sagas.Work{}, err
}

func (p *Process) gate(ctx context.Context, in *model.Trip) (bool, sagas.Work, error) {
	gate := model.GateStream(in.Gate)
	state, _, err := eventstore.Fold(ctx, p.Store, operations.Incidents, gate)
	if err == nil && !state.Open {
		err = sagas.Await(gate, "gate", 0)
	}
	return err == nil, sagas.Work{}, err
}
