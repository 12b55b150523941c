// Package timeline prints what has happened to a stream, and the data of an event without
// secrets (docs/audit.md).
package timeline

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain"
	"hostpanel/domain/masking"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
)

// Print prints what has happened to one stream, an event a line: when, how
// long after the one before, the version, what, and who.
//
//	order-6f1c… · 3 events
//
//	2026-11-21 14:30:00.120           1  Ana orders Web S for 28.70 EUR   api_key:ab12CD34
//	2026-11-21 14:30:00.164    +44ms  2  can be paid until 15:00 UTC      api_key:ab12CD34
//	2026-11-21 14:31:07.901  +1m 07s  3  28.70 EUR arrived                provider:test
func Print(c console.Console, stream domain.Stream, events []eventstore.RecordedEvent) {
	i := c.Ink()
	fmt.Fprintf(c.Out, "%s · %s\n\n", i.Bold(stream.String()), wording.Count(len(events), "event"))
	t := console.Table{Head: []string{"when (UTC)", "after", "v", "what", "who"}}
	var before time.Time
	for _, e := range events {
		t.Add(
			console.Painted(e.RecordedAt.UTC().Format("2006-01-02 15:04:05.000"), i.Faint),
			console.Cell{Text: since(before, e.RecordedAt), Paint: i.Faint, Right: true},
			console.Number(e.Version),
			console.Painted(e.Event.Says(), EventColor(i, e.Name)),
			console.Painted(e.Metadata.Actor, i.Faint),
		)
		before = e.RecordedAt
	}
	t.Print(c)
}

// EventColor marks success and failure.
func EventColor(i console.Ink, name string) func(string) string {
	for _, bad := range []string{"failed", "declined", "mismatch", "parked", "refused", "given_up", "cancelled"} {
		if strings.Contains(name, bad) {
			return i.Red
		}
	}
	if slices.Contains([]string{"order.payment_confirmed", "order.activated"}, name) {
		return i.Green
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

// DataOf is an event's own data. Nothing secret should stand there; should it
// ever, it is not shown.
func DataOf(e domain.Event) json.RawMessage {
	text, err := json.Marshal(e)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return masking.JSON(text)
}
