package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// timeline prints what has happened to one stream, an event a line: when, how
// long after the one before, the version, what, and who.
//
//	order-6f1c… · 3 events
//
//	2026-11-21 14:30:00.120           1  Ana orders Web S for 28.70 EUR   api_key:ab12CD34
//	2026-11-21 14:30:00.164    +44ms  2  can be paid until 15:00 UTC      api_key:ab12CD34
//	2026-11-21 14:31:07.901  +1m 07s  3  28.70 EUR arrived                provider:test
func (c console) timeline(stream domain.Stream, events []eventstore.Recorded) {
	i := c.ink()
	fmt.Fprintf(c.out, "%s · %s\n\n", i.bold(stream.String()), count(len(events), "event"))
	t := table{head: []string{"when (UTC)", "after", "v", "what", "who"}}
	var before time.Time
	for _, e := range events {
		t.add(
			painted(e.RecordedAt.UTC().Format("2006-01-02 15:04:05.000"), i.faint),
			cell{text: since(before, e.RecordedAt), paint: i.faint, right: true},
			number(e.Version),
			painted(sentence(e.Event), i.eventColour(e.Name)),
			painted(e.Cause.Actor, i.faint),
		)
		before = e.RecordedAt
	}
	t.print(c)
}

// eventColour shows at a glance where things went well, or did not.
func (i ink) eventColour(name string) func(string) string {
	for _, bad := range []string{"failed", "declined", "mismatch", "parked", "refused", "given_up", "cancelled"} {
		if strings.Contains(name, bad) {
			return i.red
		}
	}
	if slices.Contains([]string{"order.payment_confirmed", "order.activated"}, name) {
		return i.green
	}
	return nil
}

// since is the time between two events, short: "+44ms", "+1m 07s", "+3d 4h".
func since(before, now time.Time) string {
	d := now.Sub(before)
	switch {
	case before.IsZero():
		return ""
	case d < time.Second:
		return fmt.Sprintf("+%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("+%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("+%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("+%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("+%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
}

func count[N int | int64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(int64(n)) + " " + what + "s"
}

// grouped writes a number with its thousands apart: 1,234,567.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
