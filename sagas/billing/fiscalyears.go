package billing

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// fiscalYearQueue are the years whose legal period is over while keys of them are left, such as in
// a database that was restored. They are due in recovery mode too: nothing outside is touched.
func (s *Service) fiscalYearQueue() sagas.Queue[int] {
	return sagas.Queue[int]{
		Name: "fiscal-years", Failed: "fiscal keys were not destroyed", InRecovery: true, KeyType: "int",
		Policy: s.policy(),
		Due: func() (string, []any) {
			return eventstore.DueFiscalYears(billing.LastEnded(s.Runner.Now(), s.YearsKept))
		},
		Do: s.destroyKeys,
	}
}

// destroyKeys destroys the keys of a year, blanks the read tables and records that, all or
// nothing.
func (s *Service) destroyKeys(ctx context.Context, task *sagas.Task[int]) (sagas.TaskEnd, error) {
	keys, err := s.Store.FiscalKeys(ctx, task.Row)
	if err != nil || keys == 0 {
		return sagas.TaskIdle, err
	}
	rows := append(eventstore.EraseYear(eventstore.FiscalYear{Year: task.Row, Keys: keys}), task.Recorded())
	command := billing.DestroyFiscalKeys{Year: task.Row, Keys: keys, At: s.Runner.Now()}
	if _, err := s.Store.ExecuteWith(ctx, domain.Metadata{Actor: "system:billing"}, rows, command); err != nil {
		return sagas.TaskIdle, fmt.Errorf("destroy the fiscal keys of %d: %w", task.Row, err)
	}
	return sagas.TaskRecorded, nil
}

// DestroyFiscalKeys destroys the keys of all years that are due, and returns how many years
// there were.
func (s *Service) DestroyFiscalKeys(ctx context.Context) (years int, err error) {
	return s.fiscalYears.All(ctx)
}
