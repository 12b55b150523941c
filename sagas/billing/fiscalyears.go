package billing

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// fiscalYears are those whose legal period is over while keys of them are left, such as in a
// database that was restored. They are due in recovery mode too: nothing outside is touched.
func (s *Service) fiscalYears() backlog[eventstore.FiscalYear] {
	return backlog[eventstore.FiscalYear]{
		queue: "fiscal-years", undone: "fiscal keys were not destroyed", atOnce: 1, inRecovery: true,
		read: func(ctx context.Context, after eventstore.FiscalYear) ([]eventstore.FiscalYear, error) {
			if after.Year > 0 { // all were read at once
				return nil, nil
			}
			return s.Store.FiscalYears(ctx, billing.LastEnded(s.Runner.Now(), s.YearsKept))
		},
		do: s.destroyKeys,
	}
}

// destroyKeys destroys the keys of a year, blanks the read tables and records that, all or
// nothing.
func (s *Service) destroyKeys(ctx context.Context, y eventstore.FiscalYear) (bool, error) {
	cause := domain.Metadata{Actor: "system:billing"}
	_, err := s.Store.ExecuteWith(ctx, cause, eventstore.EraseYear(y), billing.DestroyFiscalKeys{Year: y.Year, Keys: y.Keys, At: s.Runner.Now()})
	if err != nil {
		return false, fmt.Errorf("destroy the fiscal keys of %d: %w", y.Year, err)
	}
	return true, nil
}

// DestroyFiscalKeys destroys the keys of all years that are due, and returns how many years
// there were.
func (s *Service) DestroyFiscalKeys(ctx context.Context) (years int, err error) {
	return s.fiscalYears().all(ctx, ctx, s.Runner)
}
