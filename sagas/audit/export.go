package audit

import (
	"context"

	"hostpanel/domain/audit"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// exportedAtOnce is the number of events in one read of an export.
const exportedAtOnce = 1000

// Export calls each for every event of a part of the log behind a position, in the order
// of the log, as the audit API shows it. An export that was cut off goes on behind its
// last position.
func (s *Service) Export(
	ctx context.Context, who projections.Caller, of eventstore.Selection, after int64, each func(audit.Event) error,
) error {
	for {
		history, err := s.store.Reader().Afresh().Selected(ctx, of, after, exportedAtOnce)
		if err != nil || len(history) == 0 {
			return err
		}
		shown, err := s.show(ctx, who, history)
		if err != nil {
			return err
		}
		for _, e := range shown {
			if err := each(e); err != nil {
				return err
			}
		}
		after = history[len(history)-1].Position
	}
}
