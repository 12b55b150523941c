package billing_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostpanel/domain/billing"
)

func ExamplePeriodStart() {
	for _, begins := range []string{"2026-01-31", "2027-12-30", "2028-02-29"} {
		anchor, _ := time.Parse(time.DateOnly, begins)
		for _, cycle := range []string{"monthly", "yearly"} {
			fmt.Print(cycle, ":")
			for n := range 5 {
				fmt.Print(" ", billing.PeriodStart(anchor, cycle, n).Format(time.DateOnly))
			}
			fmt.Println()
		}
	}
	// Output:
	// monthly: 2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31
	// yearly: 2026-01-31 2027-01-31 2028-01-31 2029-01-31 2030-01-31
	// monthly: 2027-12-30 2028-01-30 2028-02-29 2028-03-30 2028-04-30
	// yearly: 2027-12-30 2028-12-30 2029-12-30 2030-12-30 2031-12-30
	// monthly: 2028-02-29 2028-03-29 2028-04-29 2028-05-29 2028-06-29
	// yearly: 2028-02-29 2029-02-28 2030-02-28 2031-02-28 2032-02-29
}

// In thirty years every month, or every year, has one beginning, at the anchor's time of
// the day, on its day or on the last day of a shorter month.
func TestPeriodsNeitherDriftNorLeaveGaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anchor := time.Unix(rapid.Int64Range(0, 4_000_000_000).Draw(t, "anchor"), 0).In(
			time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, "zone")*3600),
		)
		months := map[string]int{"monthly": 1, "yearly": 12}
		cycle := rapid.SampledFrom([]string{"monthly", "yearly"}).Draw(t, "cycle")
		u := anchor.UTC()
		for n := range 360/months[cycle] + 1 {
			at := billing.PeriodStart(anchor, cycle, n)
			if passed := (at.Year()-u.Year())*12 + int(at.Month()) - int(u.Month()); passed != n*months[cycle] {
				t.Fatalf("period %d begins %d months after the anchor", n, passed)
			}
			isLast := at.AddDate(0, 0, 1).Month() != at.Month()
			if at.Day() != u.Day() && (!isLast || at.Day() > u.Day()) {
				t.Fatalf("period %d begins on %s, the anchor is %s", n, at, u)
			}
			if at.Location() != time.UTC || at.Sub(at.Truncate(24*time.Hour)) != u.Sub(u.Truncate(24*time.Hour)) {
				t.Fatalf("period %d begins at %s, the anchor is %s", n, at, u)
			}
		}
		if first := billing.PeriodStart(anchor, cycle, 0); !first.Equal(anchor) {
			t.Fatalf("the first period begins at %s instead of %s", first, anchor)
		}
	})
}
