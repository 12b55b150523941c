package billing

import "time"

// PeriodStart is when a period of a subscription begins, in UTC; period 0 begins at the
// anchor. Each later one begins at the anchor's time on the anchor's day of the month, or
// on the last day of a month that has no such day. A period ends when the next one begins,
// so periods neither leave gaps nor drift.
func PeriodStart(anchor time.Time, cycle string, n int) time.Time {
	a := anchor.UTC()
	if cycle == yearly {
		n *= 12
	}
	month := time.Date(a.Year(), a.Month()+time.Month(n), 1, a.Hour(), a.Minute(), a.Second(), a.Nanosecond(), time.UTC)
	last := month.AddDate(0, 1, -1).Day()
	return month.AddDate(0, 0, min(a.Day(), last)-1)
}

const yearly = "yearly" // the other cycle is monthly
