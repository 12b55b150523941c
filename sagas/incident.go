package sagas

import (
	"context"
	"errors"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// Trouble that no other history tells is reported as an incident
// (docs/operations.md, "Incidents").

// IncidentReporter is who reports incidents, and settles those that end by themselves.
const IncidentReporter = "system:incidents"

// ReportIncident tells the log of a trouble, and writes the rows that belong to
// it. One that is open already is not told again.
func (s *Runner) ReportIncident(ctx context.Context, t operations.Trouble, rows ...eventstore.TxStatement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	_, err := s.store.ExecuteWith(ctx, domain.Metadata{Actor: IncidentReporter}, rows, t.Report(s.now()))
	return err
}

// SettleIncidents ends incidents.
func (s *Runner) SettleIncidents(ctx context.Context, cause domain.Metadata, ids []uuid.UUID, reason string) error {
	for _, id := range ids {
		cause.ID, cause.IdempotencyKey, cause.ExpectedVersions, cause.Traceparent = uuid.New(), nil, nil, "" // those of the request belong to what it asked for
		if _, err := s.store.Execute(ctx, cause, operations.Settle{ID: id, Reason: reason, At: s.now()}); err != nil {
			return err
		}
	}
	return nil
}

// SetAside writes the row that puts something where a person has to look at
// it, together with the report of that. What cannot be reported is set aside
// all the same: else it would come back, and fail again, for ever.
func (s *Runner) SetAside(ctx context.Context, t operations.Trouble, aside eventstore.TxStatement) error {
	err := s.ReportIncident(ctx, t, aside)
	if err == nil || errors.Is(err, ErrSetAside) {
		return nil
	}
	if DatabaseAway(err) {
		return err
	}
	s.Alarm(ctx, "an incident was not reported", "kind", t.Kind, "incident", t.ID(), "error", Scrub(err))
	_, err = s.Exec(ctx, "set aside what failed", aside.SQL, aside.Args...)
	return err
}

// ErrSetAside: somebody else was there before.
var ErrSetAside = errors.New("it is not there any more")

// ReactionTrouble is the incident of an event that a reaction cannot handle.
func ReactionTrouble(r eventstore.RecordedEvent) operations.Trouble {
	position := strconv.FormatInt(r.Position, 10)
	return operations.Trouble{
		Kind: operations.ReactionFailed, Subject: ReactionsReader + "/" + position,
		About: map[string]string{"reader": ReactionsReader, "position": position, "event": r.Name},
	}
}
