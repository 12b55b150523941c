package sagas

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Jobs are the operations that people ask for and that outlast the request
// (docs/sync.md). Each is carried out by a run that starts with it.
type Jobs struct{ s *Sagas }

// Jobs are what people have asked for and wait for.
func (s *Sagas) Jobs() Jobs { return Jobs{s} }

const (
	installDef = "install/1"
	syncDef    = "sync/1"
)

func (s *Sagas) jobSteps() []step {
	engine := engineQueue(s.engine)
	return []step{
		{
			name: "cms.install", says: "install the program into the site", queue: engine, policy: s.policies.engine,
			effect: &effect{key: installKey, prepare: s.installCall},
		},
		{
			name: "cms.applied", says: "wait until the program is installed", queue: engine, policy: s.policies.ready,
			wait: &until{ready: s.installApplied},
		},
		{
			name: "sync.compare", says: "compare the tenant's records with the engine's", queue: engine, policy: s.policies.compare,
			wait: &until{ready: s.compareTenant},
		},
		{
			name: "sync.settle", says: "wait until the engine has answered what was pushed", queue: localQueue, policy: s.policies.compare,
			wait: &until{ready: s.settled},
		},
	}
}

func (s *Sagas) jobSagas() []saga {
	begun := func(j Job) []domain.Command { return []domain.Command{hosting.StartOperation{ID: j.Operation}} }
	return []saga{
		{name: "install", def: installDef, begun: begun, parked: func(j Job, _, code string) []domain.Command { return giveUpInstall(j, code) }},
		{name: "sync", def: syncDef, begun: begun, parked: func(j Job, _, code string) []domain.Command {
			return []domain.Command{hosting.FailOperation{ID: j.Operation, Code: code}}
		}},
	}
}

// jobRun is the run that carries out an operation. Not every kind has one.
func (s *Sagas) jobRun(fact eventstore.Recorded, e hosting.OperationQueued) (Start, bool) {
	id, err := uuid.Parse(fact.Stream.ID)
	if err != nil {
		return Start{}, false
	}
	job := Job{Operation: id, Tenant: e.Tenant}
	switch e.Kind {
	case hosting.InstallCMS:
		if e.Install != nil {
			job.Site, job.Database = e.ResourceID, e.Install.Database
		}
		return Start{Key: "install:" + id.String(), Def: installDef, Steps: s.places([]string{"cms.install", "cms.applied"}), Job: job}, true
	case hosting.TenantSync:
		return Start{Key: "sync:" + id.String(), Def: syncDef, Steps: s.places([]string{"sync.compare", "sync.settle"}), Job: job}, true
	}
	return Start{}, false
}

// operation is what has become of an operation, and how long ago it was asked
// for.
func (s *Sagas) operation(ctx context.Context, id uuid.UUID) (o hosting.Operation, age time.Duration, err error) {
	history, err := s.store.Read(ctx, hosting.OperationStream(id))
	if err != nil || len(history) == 0 {
		return o, 0, errors.Join(err, fmt.Errorf("read operation %s", id))
	}
	for _, r := range history {
		e, known := r.Event.(hosting.OperationEvent)
		if !known {
			return o, 0, fmt.Errorf("operation %s has a fact %s", id, r.Name)
		}
		o = hosting.Operations.Evolve(o, e)
	}
	return o, s.now().Sub(history[0].RecordedAt), nil
}

// handOff is the purpose of the secrets of operations.
const handOff = "operation"

// errTaken means that the secret has been shown before.
var errTaken = errors.New("the secret has been taken")

// TakePassword answers with the password that an installation has made up, and
// destroys it: it is shown once. Empty: there is none, or no more.
func (j Jobs) TakePassword(ctx context.Context, id uuid.UUID) (string, error) {
	key := shownKey(id)
	secret, err := j.s.store.OpenHandOff(ctx, handOff, key)
	if err == nil {
		row := eventstore.Shred(key)
		row.Touches, row.Else = 1, errTaken
		_, err = j.s.store.ExecuteWith(ctx, domain.Cause{Actor: "system:install"}, []eventstore.Row{row})
	}
	if errors.Is(err, eventstore.ErrShredded) || errors.Is(err, errTaken) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("take the password of operation %s: %w", id, err)
	}
	return string(secret), nil
}

// shownKey is where a password waits for who asked for it.
func shownKey(id uuid.UUID) string { return "j/" + id.String() + "/shown" }
