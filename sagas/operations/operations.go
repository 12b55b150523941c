// Package operations watches over the panel for those who operate it: it
// verifies the log, ends incidents that are over, and collects all that is
// known of an order (docs/operations.md).
package operations

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what operations need of the rest of the program.
type Deps struct {
	Runner *sagas.Runner
	Store  *eventstore.Store
	Tables *projections.Tables
	Times  Times

	// ProviderDown is how long a payment provider has to be away before that is
	// an incident.
	ProviderDown time.Duration
	// Webhooks lists the webhooks of payment providers, newest first.
	Webhooks func(context.Context, operations.WebhookPick) ([]operations.Webhook, error)
	// Replay acts on a webhook again.
	Replay func(ctx context.Context, cause domain.Metadata, webhook int64, reason string) error
	// Rebuild builds read tables anew.
	Rebuild Rebuild
	// Answer does what an operator has decided about a difference to the engine.
	Answer func(ctx context.Context, cause domain.Metadata, answer operations.AnswerIncident) error
}

// A Service watches over the panel.
type Service struct {
	runner       *sagas.Runner
	store        *eventstore.Store
	pool         *pgxpool.Pool
	tables       *projections.Tables
	times        Times
	providerDown time.Duration
	readers      eventstore.ReaderWatch
	webhooks     func(context.Context, operations.WebhookPick) ([]operations.Webhook, error)
	replay       func(ctx context.Context, cause domain.Metadata, webhook int64, reason string) error
	answer       func(ctx context.Context, cause domain.Metadata, answer operations.AnswerIncident) error
	rebuild      Rebuild
	rebuilds     sagas.Definition[RebuildInput]
}

// New registers what operations do by themselves with the runner.
func New(d Deps) *Service {
	s := &Service{
		runner: d.Runner, store: d.Store, pool: d.Store.Pool(), tables: d.Tables, times: d.Times,
		providerDown: d.ProviderDown, webhooks: d.Webhooks, replay: d.Replay, answer: d.Answer, rebuild: d.Rebuild,
	}
	s.registerRebuilds()
	s.verify()
	s.runner.OnEvent(s.runner.EndRecovery, sagas.NamesOf(operations.IncidentSettled{})...)
	s.runner.EachRound("incidents were not reviewed", s.ReviewIncidents)
	return s
}
