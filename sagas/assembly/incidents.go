package assembly

import (
	"context"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Troubles that no other history tells are incidents: each is reported where
// it shows, every superuser is told, and it is settled when the trouble is over
// (docs/operations.md, "Incidents").

// TableTrouble is a read table that could not be built.
func TableTrouble(name string) operations.Trouble {
	return operations.Trouble{Kind: operations.ProjectionFailed, Subject: name, About: map[string]string{"projection": name}}
}

// LogTrouble is an event that is not as it was written.
func LogTrouble(b eventstore.Broken) operations.Trouble {
	position := strconv.FormatInt(b.Position, 10)
	about := map[string]string{"position": position, "reason": b.Reason}
	if b.Stream != "" {
		about["stream"] = b.Stream
	}
	return operations.Trouble{Kind: operations.LogBroken, Subject: position, About: about}
}

// over are the incidents whose trouble is gone. A broken log is not among
// them: that takes a person.
const over = `
	select i.id, i.version from incidents i where not i.is_settled and case i.kind
		when 'webhook_unmatched' then not exists (select from webhook_inbox w where w.id = (i.about ->> 'webhook')::bigint and w.state = 'unmatched')
		when 'webhook_parked' then not exists (select from webhook_inbox w where w.id = (i.about ->> 'webhook')::bigint and w.state = 'parked')
		when 'reaction_failed' then not exists (select from poisoned p where p.reader = i.about ->> 'reader' and p.position = (i.about ->> 'position')::bigint)
		when 'provider_down' then not exists (select from payment_watch w where w.provider = i.about ->> 'provider' and w.failing_since < real_now() - $1::interval)
		when 'projection_failed' then not exists (select from projections p where p.name = i.about ->> 'projection' and p.status = 'failed')
		else false end
	order by i.reported_at limit $2`

// settledAtOnce bounds one round.
const settledAtOnce = 200

// reviewIncidents reports read tables that could not be built, and settles
// what is over.
func (s *Panel) reviewIncidents(ctx context.Context) error {
	states, err := s.tables.For(projections.System).States(ctx)
	if err != nil {
		return err
	}
	for _, table := range states {
		if table.Status != "failed" {
			continue
		}
		if err := s.ReportIncident(ctx, TableTrouble(table.Name)); err != nil {
			return err
		}
	}
	rows, _ := s.pool.Query(ctx, over, s.times.DownAlarm, settledAtOnce)
	ended, err := pgx.CollectRows(rows, pgx.RowToStructByPos[endedIncident])
	if err != nil {
		return sagas.SQLError(err, "look for incidents that are over")
	}
	for _, i := range ended {
		m := domain.Metadata{Actor: sagas.IncidentReporter, Cause: domain.DeadlineCause(operations.Settle{ID: i.ID}.Stream(), i.Version)}
		if err := s.SettleIncidents(ctx, m, []uuid.UUID{i.ID}, "it is over"); err != nil {
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
