package sagas

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Troubles that no other history tells are incidents: each is reported where
// it shows, every superuser is told, and it is settled when the trouble is over
// (docs/operations.md, "Incidents").

func webhookTrouble(kind string, id int64, provider string) operations.Trouble {
	webhook := strconv.FormatInt(id, 10)
	return operations.Trouble{Kind: kind, Subject: webhook, About: map[string]string{"webhook": webhook, "provider": provider}}
}

func reactionTrouble(r eventstore.Recorded) operations.Trouble {
	position := strconv.FormatInt(r.Position, 10)
	return operations.Trouble{
		Kind: operations.ReactionFailed, Subject: reader + "/" + position,
		About: map[string]string{"reader": reader, "position": position, "event": r.Name},
	}
}

func providerTrouble(name string) operations.Trouble {
	return operations.Trouble{Kind: operations.ProviderDown, Subject: name, About: map[string]string{"provider": name}}
}

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

// reporter is who reports incidents, and settles those that end by themselves.
const reporter = "system:incidents"

// reportIncident tells the log of a trouble, and writes the rows that belong to
// it. One that is open already is not told again.
func (s *Sagas) reportIncident(ctx context.Context, t operations.Trouble, rows ...eventstore.Row) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	_, err := s.store.ExecuteWith(ctx, domain.Cause{Actor: reporter}, rows, t.Report(s.now()))
	return err
}

// setAside writes the row that puts something where a person has to look at
// it, together with the report of that. What cannot be reported is set aside
// all the same: else it would come back, and fail again, for ever.
func (s *Sagas) setAside(ctx context.Context, t operations.Trouble, aside eventstore.Row) error {
	err := s.reportIncident(ctx, t, aside)
	if err == nil || errors.Is(err, errSetAside) {
		return nil
	}
	if databaseAway(err) {
		return err
	}
	s.alarm(ctx, "an incident was not reported", "kind", t.Kind, "incident", t.ID(), "error", scrub(err))
	_, err = s.exec(ctx, "set aside what failed", aside.SQL, aside.Args...)
	return err
}

// errSetAside: somebody else was there before.
var errSetAside = errors.New("it is not there any more")

// over are the incidents whose trouble is gone. A broken log is not among
// them: that takes a person.
const over = `
	select i.id from incidents i where not i.is_settled and case i.kind
		when 'webhook_unmatched' then not exists (select from webhook_inbox w where w.id = (i.about ->> 'webhook')::bigint and w.state = 'unmatched')
		when 'webhook_parked' then not exists (select from webhook_inbox w where w.id = (i.about ->> 'webhook')::bigint and w.state = 'parked')
		when 'reaction_failed' then not exists (select from poisoned p where p.reader = i.about ->> 'reader' and p.position = (i.about ->> 'position')::bigint)
		when 'provider_down' then not exists (select from payment_watch w where w.provider = i.about ->> 'provider' and w.failing_since < now() - $1::interval)
		when 'projection_failed' then not exists (select from projections p where p.name = i.about ->> 'projection' and p.status = 'failed')
		else false end
	order by i.reported_at limit $2`

// settledAtOnce bounds one round.
const settledAtOnce = 200

// reviewIncidents reports read tables that could not be built, and settles
// what is over.
func (s *Sagas) reviewIncidents(ctx context.Context) error {
	states, err := s.tables.For(projections.System).States(ctx)
	if err != nil {
		return err
	}
	for _, table := range states {
		if table.Status != "failed" {
			continue
		}
		if err := s.reportIncident(ctx, TableTrouble(table.Name)); err != nil {
			return err
		}
	}
	rows, _ := s.pool.Query(ctx, over, s.times.DownAlarm, settledAtOnce)
	ended, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return sqlError(err, "look for incidents that are over")
	}
	return s.settleIncidents(ctx, domain.Cause{Actor: reporter}, ended, "it is over")
}

func (s *Sagas) settleIncidents(ctx context.Context, cause domain.Cause, ids []uuid.UUID, reason string) error {
	for _, id := range ids {
		cause.ID, cause.Key, cause.Seen = uuid.New(), nil, nil // those of the request belong to what it asked for
		if _, err := s.store.Execute(ctx, cause, operations.Settle{ID: id, Reason: reason, At: s.now()}); err != nil {
			return err
		}
	}
	return nil
}

// webhookIncidents are the open ones about webhooks that a filter leaves.
func (s *Sagas) webhookIncidents(ctx context.Context, f operations.WebhookPick) ([]uuid.UUID, error) {
	rows, _ := s.pool.Query(ctx, `select i.id from incidents i join (select id from webhook_inbox`+inboxWhere+`) w on w.id = (i.about ->> 'webhook')::bigint
		where not i.is_settled and i.kind in ('webhook_unmatched', 'webhook_parked')`, inboxArgs(f)...)
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	return found, sqlError(err, "look for incidents about webhooks")
}

// Of one kind of trouble operators are told so often within this time; the
// rest stands in the list alone, so that a flood does not bury everything else.
const (
	mostTold  = 10
	toldWhile = time.Hour
)

// tellIncident notifies every superuser, each in their own language.
func (s *Sagas) tellIncident(ctx context.Context, r eventstore.Recorded, e operations.IncidentReported) error {
	scope := s.tables.For(projections.System)
	lately, err := scope.IncidentsReported(ctx, e.Kind, r.RecordedAt.Add(-toldWhile), r.RecordedAt)
	if err != nil || lately > mostTold {
		return err
	}
	users, err := scope.Superusers(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if err := s.tell(ctx, r, u.ID, notice.Incident(e.Kind, e.About, u.Language), map[string]string{"incident_id": r.Stream.ID}); err != nil {
			return err
		}
	}
	return nil
}
