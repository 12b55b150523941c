package hosting

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
)

// Operations carries out what people ask for and what outlasts the request
// (docs/sync.md). Each operation is carried out by a run that starts with it.
type Operations struct {
	Deps

	installs sagas.Definition[InstallInput]
	syncs    sagas.Definition[SyncInput]
}

// NewOperations registers the runs of operations.
func NewOperations(d Deps) *Operations {
	ops := &Operations{Deps: d}
	ops.register()
	d.Runner.OnAppend(ops.starts)
	return ops
}

// An InstallInput is what the installation of a program works with.
type InstallInput struct {
	Operation uuid.UUID `json:"operation"`
	Database  int64     `json:"database,omitempty"` // that was made for it
	Refused   string    `json:"refused,omitempty"`  // why the engine would not
}

// A SyncInput says which comparison with the engine is carried out.
type SyncInput struct {
	Operation uuid.UUID `json:"operation"`
}

// register registers the sagas that carry out operations.
func (ops *Operations) register() {
	engine := ops.EngineQueue
	ops.installs = sagas.Register(ops.Runner, sagas.Saga[InstallInput]{
		Name: "install", Definition: "install/1",
		Begun: func(in InstallInput) []domain.Command {
			return []domain.Command{hosting.StartOperation{ID: in.Operation}}
		},
		Parked: func(in InstallInput, _, code string) []domain.Command { return giveUpInstall(in, code) },
		Steps: []sagas.Step[InstallInput]{
			{
				Name: "cms.install", Says: "install the program into the site", Queue: engine, Policy: ops.EngineCalls,
				Effect: &sagas.Effect[InstallInput]{Key: installKey, Prepare: ops.installCall},
			},
			{
				Name: "cms.applied", Says: "wait until the program is installed", Queue: engine, Policy: ops.EngineApplies,
				Wait: ops.installApplied, Of: "cms.install",
			},
		},
	})
	ops.syncs = sagas.Register(ops.Runner, sagas.Saga[SyncInput]{
		Name: "sync", Definition: "sync/1",
		Begun: func(in SyncInput) []domain.Command { return []domain.Command{hosting.StartOperation{ID: in.Operation}} },
		Parked: func(in SyncInput, _, code string) []domain.Command {
			return []domain.Command{hosting.FailOperation{ID: in.Operation, Code: code}}
		},
		Steps: []sagas.Step[SyncInput]{
			{
				Name: "sync.compare", Says: "compare the tenant's records with the engine's", Queue: engine, Policy: ops.Comparison,
				Wait: ops.compareTenant,
			},
			{
				Name: "sync.settle", Says: "wait until the engine has answered what was pushed", Queue: sagas.LocalQueue,
				Policy: ops.Comparison,
				Wait:   ops.settled,
			},
		},
	})
}

// starts are the runs that carry out operations. Not every kind of operation has
// one.
func (ops *Operations) starts(_ context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
	return sagas.StartEach(ops.Runner, events, func(r eventstore.RecordedEvent) (run sagas.Start, begins bool, err error) {
		if e, queued := r.Event.(hosting.OperationQueued); queued {
			run, begins = ops.run(r, e)
		}
		return run, begins, nil
	})
}

func (ops *Operations) run(r eventstore.RecordedEvent, e hosting.OperationQueued) (sagas.Start, bool) {
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return sagas.Start{}, false
	}
	switch e.Kind {
	case hosting.InstallCMS:
		in := InstallInput{Operation: id}
		if e.Install != nil {
			in.Database = e.Install.Database
		}
		return ops.installs.Start(id.String(), in, uuid.Nil), true
	case hosting.TenantSync:
		return ops.syncs.Start(id.String(), SyncInput{Operation: id}, uuid.Nil), true
	}
	return sagas.Start{}, false
}

// operation is what has become of an operation, and how long ago it was asked
// for.
func (ops *Operations) operation(ctx context.Context, id uuid.UUID) (o hosting.Operation, age time.Duration, err error) {
	history, err := ops.Store.Read(ctx, hosting.OperationStream(id))
	if err != nil || len(history) == 0 {
		return o, 0, errors.Join(err, fmt.Errorf("read operation %s", id))
	}
	for _, r := range history {
		e, known := r.Event.(hosting.OperationEvent)
		if !known {
			return o, 0, fmt.Errorf("operation %s has an event %s", id, r.Name)
		}
		o = hosting.Operations.Evolve(o, e)
	}
	return o, ops.Runner.Now().Sub(history[0].RecordedAt), nil
}

// handOff is the purpose of the secrets of operations.
const handOff = "operation"

// errTaken means that the secret has been shown before.
var errTaken = errors.New("the secret has been taken")

// TakePassword answers with the password that an installation has made up, and
// destroys it: it is shown once. Empty: there is none, or no more.
func (ops *Operations) TakePassword(ctx context.Context, id uuid.UUID) (string, error) {
	key := shownKey(id)
	secret, err := ops.Vault.OpenHandOff(ctx, handOff, key)
	if err == nil {
		row := credentials.Shred(key)
		row.WantRows, row.ErrIfNot = 1, errTaken
		_, err = ops.Store.ExecuteWith(ctx, domain.Metadata{Actor: "system:install"}, []eventstore.TxStatement{row})
	}
	if errors.Is(err, credentials.ErrShredded) || errors.Is(err, errTaken) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("take the password of operation %s: %w", id, err)
	}
	return string(secret), nil
}

// shownKey is where a password waits for who asked for it.
func shownKey(id uuid.UUID) string { return "j/" + id.String() + "/shown" }
