package operations

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// An incident is a trouble that no other history shows. It is reported where it
// is found, each superuser is notified, and it is settled when it is over
// (docs/operations.md, "Incidents").

// over selects the incidents whose trouble is gone. A broken log is not among
// them: an operator settles that. Without "offset 0" Postgres may read a whole table once,
// instead of one row for each incident.
const over = `
	select i.id, i.version from incidents i where (not i.is_settled or i.answer = 'ignore') and case i.kind
		when 'webhook_unmatched' then not exists (select from webhook_inbox w
			where w.id = (i.about ->> 'webhook')::bigint and w.state = 'unmatched' offset 0)
		when 'webhook_parked' then not exists (select from webhook_inbox w where w.id = (i.about ->> 'webhook')::bigint
			and w.state = 'parked' offset 0)
		when 'task_parked' then not exists (select from task t where t.queue = i.about ->> 'queue'
			and t.key = i.about ->> 'key' and t.state = 'parked')
		when 'reaction_failed' then not exists (select from poisoned p where p.reader = i.about ->> 'reader'
			and p.position = (i.about ->> 'position')::bigint offset 0)
		when 'provider_down' then not exists (select from payment_watch w where w.provider = i.about ->> 'provider'
			and w.failing_since < real_now() - $1::interval offset 0)
		when 'access_refused' then not exists (select from ` + sagas.LiveRuns + ` where status in ('waiting', 'running', 'ready')
			and awaits = 'access/' || (i.about ->> 'queue') || '/' || (i.about ->> 'lacks'))
		when 'projection_failed' then not exists (select from projections p where p.name = i.about ->> 'projection' and p.status = 'failed')
		when 'reader_stuck' then exists (select from readers r where r.name = i.about ->> 'reader'
			and r.position > (i.about ->> 'position')::bigint)
		when 'engine_orphan' then not exists (select from resources t where t.kind = 'tenant'
			and t.id = (i.about ->> 'tenant')::bigint and t.present offset 0)
			or exists (select from resources r where r.kind = i.about ->> 'kind'
				and r.engine_id = (i.about ->> 'engine_id')::bigint and r.status <> 'gone' offset 0)
		when 'engine_stuck' then not exists (select from resources r where r.kind = i.about ->> 'kind'
			and r.id = (i.about ->> 'id')::bigint and r.sync_status <> 'synced' offset 0)
		when 'engine_missing' then ` + recordLeft + `
		when 'engine_changed' then ` + recordLeft + `
		else false end
	order by i.reported_at limit $2`

// recordLeft tells that the panel has no record any more that the engine should hold.
const recordLeft = `not exists (select from resources r where r.kind = i.about ->> 'kind'
	and r.id = (i.about ->> 'id')::bigint and r.present offset 0)`

// settledAtOnce limits one round.
const settledAtOnce = 200

// StuckReaders are the readers of the log that have not moved for a minute.
func (s *Service) StuckReaders(ctx context.Context) ([]eventstore.StuckReader, error) {
	return s.readers.Look(ctx, s.pool)
}

// reportStuckReaders reports them.
func (s *Service) reportStuckReaders(ctx context.Context) error {
	stuck, err := s.StuckReaders(ctx)
	for _, r := range stuck {
		if err := s.runner.ReportIncident(ctx, operations.ReaderTrouble(r.Name, r.Position)); err != nil {
			return err
		}
	}
	return err
}

// ReviewIncidents reports read tables that could not be built and readers that do
// not move, and settles the incidents that are over.
func (s *Service) ReviewIncidents(ctx context.Context) error {
	if err := s.reportStuckReaders(ctx); err != nil {
		return err
	}
	states, err := s.tables.For(projections.System).Operations().States(ctx)
	if err != nil {
		return err
	}
	for _, table := range states {
		if table.Status != "failed" {
			continue
		}
		if err := s.runner.ReportIncident(ctx, operations.TableTrouble(table.Name)); err != nil {
			return err
		}
	}
	rows, _ := s.pool.Query(ctx, over, s.providerDown, settledAtOnce)
	ended, err := pgx.CollectRows(rows, pgx.RowToStructByPos[endedIncident])
	if err != nil {
		return sagas.SQLError(err, "look for incidents that are over")
	}
	for _, i := range ended {
		m := domain.Metadata{Actor: sagas.IncidentReporter, Cause: domain.DeadlineCause(operations.Settle{ID: i.ID}.Stream(), i.Version)}
		if err := s.runner.SettleIncidents(ctx, m, []uuid.UUID{i.ID}, "it is over"); err != nil {
			return err
		}
	}
	return nil
}

// An endedIncident is one whose trouble is over, at the version that reported it.
type endedIncident struct {
	ID      uuid.UUID
	Version int
}
