package operations

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Happening is something that happened to an order, in plain words. What is no event of the
// log, such as a webhook or a failed attempt, has no position.
type Happening struct {
	Position          *int64
	At                time.Time
	Sort, Actor, Text string
	Data              json.RawMessage
}

// Fields are the happening.
func (m *Happening) Fields() field.Set {
	return field.Set{
		field.NullInt("position", &m.Position).ReadOnly().Doc("In the log; null: it is no event of the log."),
		field.Time("recorded_at", &m.At).ReadOnly(),
		field.Text("type", &m.Sort).ReadOnly(),
		field.Text("actor", &m.Actor).ReadOnly(),
		field.Text("text", &m.Text).ReadOnly(),
		field.Any("data", &m.Data).ReadOnly(),
	}
}

// Timeline is all that has happened to the order as one chain: what the log has, what came
// from outside, and what was tried in vain (docs/operations.md, "The timeline").
func (d OrderDetail) Timeline() []Happening {
	runs := map[domain.Stream]Run{}
	for _, r := range d.Runs {
		runs[r.Stream()] = r
	}
	var all []Happening
	for _, f := range d.Events {
		text := f.Event.Says()
		if r, ofRun := runs[f.Stream]; ofRun {
			text = r.Kind + ": " + text + r.triedBefore(f)
		}
		all = append(all, Happening{&f.Position, f.RecordedAt, f.Name, f.Actor, text, f.Data()})
	}
	for _, w := range d.Webhooks {
		all = append(all, w.arrival())
	}
	for _, r := range d.Runs {
		all = append(all, r.failures()...)
		all = append(all, r.openEffects()...)
	}
	slices.SortStableFunc(all, func(a, b Happening) int { return a.At.Compare(b.At) })
	return all
}

// arrival is the receipt of the webhook.
func (w Webhook) arrival() Happening {
	text := fmt.Sprintf("webhook %s of %s came, %s: %s", w.EventID, w.Provider, w.Type, webhookStates[w.State])
	if w.Error != "" {
		text += " (" + w.Error + ")"
	}
	return Happening{
		nil, w.ReceivedAt, "webhook.received", "provider:" + w.Provider, text,
		object("webhook", w.ID, "event_id", w.EventID, "state", w.State),
	}
}

var webhookStates = map[string]string{
	"stored": "it has not been acted on yet", "done": "the order was looked at", "ignored": "nothing that we act on",
	"unmatched": "it fits no order", "parked": "acting on it failed too often",
}

// triedBefore tells what went wrong before a step was done: "at attempt 2: one
// gave no answer, and it was found by look-up".
func (r Run) triedBefore(f RecordedEvent) string {
	if f.Name != "saga.step_completed" {
		return ""
	}
	about := f.StepFact()
	silent, failed := 0, 0
	for i, a := range r.Attempts {
		lost := a.FinishedAt == nil && i < len(r.Attempts)-1
		switch {
		case a.Step != about.Step || a.StartedAt.After(f.RecordedAt):
		case a.ErrorClass == "unknown", lost:
			silent++
		case a.HasFailed():
			failed++
		}
	}
	if silent+failed == 0 {
		return ""
	}
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{silent, "gave no answer"}, {failed, "failed"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	if about.Found {
		parts = append(parts, "found by look-up")
	}
	return fmt.Sprintf(", at attempt %d: %s", silent+failed+1, strings.Join(parts, ", "))
}

// failures are the attempts that failed at the step where the run stands.
func (r Run) failures() []Happening {
	if r.Over() {
		return nil
	}
	n, last := 0, Attempt{}
	for _, a := range r.Attempts {
		if a.Step == r.Step && a.HasFailed() {
			n, last = n+1, a
		}
	}
	if n == 0 {
		return nil
	}
	at, times := last.StartedAt, "once"
	if last.FinishedAt != nil {
		at = *last.FinishedAt
	}
	if n > 1 {
		times = fmt.Sprintf("%d times, lastly", n)
	}
	text := fmt.Sprintf("%s: %s failed %s: %s", r.Kind, r.At(), times, last.Error)
	return []Happening{
		{nil, at, "attempt.failed", "system:" + r.Kind, text, object("step", r.At(), "attempts", n, "error_class", last.ErrorClass)},
	}
}

// unsettledStates are the states of effects of which something is still open.
var unsettledStates = map[string]string{
	"intended": "is being done, or its answer was lost", "unknown": "may have been done: its answer was lost",
	"deferred": "was put off", "undoing": "is being taken back",
}

// openEffects are effects of the run without a known end.
func (r Run) openEffects() (all []Happening) {
	for _, e := range r.Effects {
		if state, open := unsettledStates[e.State]; open {
			text := fmt.Sprintf("%s: %s %s", r.Kind, e.Step, state)
			all = append(
				all,
				Happening{nil, e.UpdatedAt, "effect." + e.State, "system:" + r.Kind, text, object("key", e.Key, "sends", e.Sends)},
			)
		}
	}
	return all
}

// object is a small JSON object of names and values.
func object(pairs ...any) json.RawMessage {
	b := []byte{'{'}
	for i := 0; i < len(pairs); i += 2 {
		value, err := json.Marshal(pairs[i+1])
		if err != nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(field.AppendText(b, fmt.Sprint(pairs[i])), ':'), value...)
	}
	return append(b, '}')
}
