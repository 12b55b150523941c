package operations

import (
	"context"

	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// partOfLog is how many events are verified at once: some milliseconds' work.
const partOfLog = 1000

// verify checks the log in the background, one process of all at a time
// (docs/log.md, "Tamper evidence"). The place of the check is its claim.
func (s *Service) verify() {
	if s.times.VerifyRest == 0 {
		return
	}
	sagas.AddTasks(s.runner, sagas.Queue[string]{
		Name: "verify", Failed: "a part of the log was not verified",
		Look: func(ctx context.Context) (sagas.Rest, error) {
			worked, err := s.VerifyPart(ctx)
			if worked {
				return sagas.Rest{For: sagas.Jittered(s.times.VerifyPause)}, err
			}
			return sagas.Rest{For: sagas.Jittered(s.runner.Times().Sweep)}, err
		},
	}, nil)
}

// VerifyPart checks the next part of the log, if it is due. A broken event is
// reported before the check goes on.
func (s *Service) VerifyPart(ctx context.Context) (worked bool, err error) {
	pace := eventstore.Pace{Events: partOfLog, Pause: s.times.VerifyPause, Rest: s.times.VerifyRest}
	return s.store.Reader().VerifyNext(ctx, pace, func(b eventstore.Broken) error { return s.reportBroken(ctx, b) })
}

// reportBroken reports an event that is not as it was written. Of many such
// events only the first are reported.
func (s *Service) reportBroken(ctx context.Context, b eventstore.Broken) error {
	open, err := s.tables.For(projections.System).Operations().OpenIncidents(ctx)
	if err != nil || open[operations.LogBroken] >= operations.MostIncidentsTold {
		return err
	}
	s.runner.Alarm(ctx, "the log is not as it was written", "position", b.Position, "stream", b.Stream, "reason", b.Reason)
	return s.runner.ReportIncident(ctx, operations.LogTrouble(b.Position, b.Stream, b.Reason))
}
