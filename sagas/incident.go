package sagas

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
)

// Problems that belong to no order, run or record are reported as incidents
// (docs/operations.md, "Incidents").

// IncidentReporter is the actor of the program's reports and settlements.
const IncidentReporter = "system:incidents"

// incidents are reported and settled by the program itself.
type incidents struct {
	store *eventstore.Store
	now   func() time.Time
	write time.Duration // the most that a report may take
	log   *slog.Logger
}

// ReportIncident records an incident together with its rows. An open incident is
// not recorded again.
func (s *incidents) ReportIncident(ctx context.Context, t operations.Trouble, rows ...eventstore.TxStatement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.write)
	defer cancel()
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{Actor: IncidentReporter}, rows, t.Report(s.now()))
	return err
}

// SettleIncidents settles incidents.
func (s *incidents) SettleIncidents(ctx context.Context, cause domain.Metadata, ids []uuid.UUID, reason string) error {
	for _, id := range ids {
		// the request's own apply to its own commands
		cause.ID, cause.IdempotencyKey, cause.ExpectedVersions, cause.Traceparent = uuid.New(), nil, nil, ""
		if _, err := s.store.Execute(ctx, cause, operations.Settle{ID: id, Reason: reason, At: s.now()}); err != nil {
			return err
		}
	}
	return nil
}

// SetAside writes the row that sets a message aside for an operator, together with
// the incident. If the incident cannot be recorded, the row is written alone.
// Otherwise the message would fail again for ever.
func (s *incidents) SetAside(ctx context.Context, t operations.Trouble, aside eventstore.TxStatement) error {
	err := s.ReportIncident(ctx, t, aside)
	if err == nil || errors.Is(err, ErrSetAside) {
		return nil
	}
	if DatabaseAway(err) {
		return err
	}
	alarm(ctx, s.log, "an incident was not reported", "kind", t.Kind, "incident", t.ID(), "error", Scrub(err))
	_, err = exec(ctx, s.store.Pool(), "set aside what failed", aside.SQL, aside.Args...)
	return err
}

// ErrSetAside means that another process has already set the message aside.
var ErrSetAside = errors.New("it is not there any more")

// ReactionTrouble is the incident of an event that a reaction cannot handle.
func ReactionTrouble(r eventstore.RecordedEvent) operations.Trouble {
	position := strconv.FormatInt(r.Position, 10)
	return operations.Trouble{
		Kind: operations.ReactionFailed, Subject: ReactionsReader + "/" + position,
		About: map[string]string{"reader": ReactionsReader, "position": position, "event": r.Name},
	}
}
