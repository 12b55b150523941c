package billing

import (
	"fmt"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// FiscalYearCategory is that of the journals "fiscal_year-<year>": what became of the keys
// of what was issued in a year.
const FiscalYearCategory = "fiscal_year"

// The years for which buyers' data is kept, from the end of the year of issue.
const (
	LeastYearsKept, UsualYearsKept, MostYearsKept = 1, 10, 30
)

// LastEnded is the last year of issue whose legal period is over, if data is kept for so
// many years from its end.
func LastEnded(now time.Time, years int) int { return now.UTC().Year() - 1 - years }

// DestroyFiscalKeys records that the keys of a year are destroyed, in the append that does so.
type DestroyFiscalKeys struct {
	Year int
	Keys int64
	At   time.Time
}

// FiscalKeysDestroyed: the legal period of a year has ended. What buyers' data is left of
// that year, or of an earlier one, cannot be read any more.
type FiscalKeysDestroyed struct {
	Year int       `json:"year"`
	Keys int64     `json:"keys"`
	At   time.Time `json:"at"`
}

func (FiscalKeysDestroyed) EventName() string { return "billing.fiscal_keys_destroyed" }

func (e FiscalKeysDestroyed) Says() string {
	return fmt.Sprintf("the legal period of %d has ended: %s destroyed", e.Year, wording.Count(e.Keys, "fiscal key"))
}

// Until is the first moment after the year.
func (e FiscalKeysDestroyed) Until() time.Time {
	return time.Date(e.Year+1, time.January, 1, 0, 0, 0, 0, time.UTC)
}

// Stream is the journal of the year.
func (c DestroyFiscalKeys) Stream() domain.Stream {
	return domain.Stream{Category: FiscalYearCategory, ID: strconv.Itoa(c.Year)}
}

// FiscalYears is the behaviour of the journals. They have no state: each event stands by
// itself.
var FiscalYears = domain.Decider[struct{}, DestroyFiscalKeys, FiscalKeysDestroyed]{
	Decide: func(_ struct{}, c DestroyFiscalKeys) ([]FiscalKeysDestroyed, error) {
		return []FiscalKeysDestroyed{{Year: c.Year, Keys: c.Keys, At: c.At}}, nil
	},
	Evolve: func(s struct{}, _ FiscalKeysDestroyed) struct{} { return s },
}
