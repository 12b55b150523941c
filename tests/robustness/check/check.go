// Package check compares the engine with the model: answers, new events of the log, and
// every row that matters.
package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/trips"
)

// Difference is what two lists of lines do not have in common; "": they are the same.
func Difference(engine, expected []string) string {
	slices.Sort(engine)
	slices.Sort(expected)
	if slices.Equal(engine, expected) {
		return ""
	}
	var b strings.Builder
	for _, line := range engine {
		if !slices.Contains(expected, line) {
			b.WriteString("  engine: " + line + "\n")
		}
	}
	for _, line := range expected {
		if !slices.Contains(engine, line) {
			b.WriteString("  model:  " + line + "\n")
		}
	}
	return b.String()
}

// Events compares new events of the log, in their order.
func Events(engine []eventstore.RecordedEvent, expected []model.Event) string {
	var is, want []string
	for _, e := range engine {
		is = append(is, fmt.Sprintf("%d %s/%d %s %s %s %s %s %s %s", e.Position, e.Stream, e.Version, e.Metadata.Actor, e.Metadata.Saga,
			e.Metadata.Correlation, e.Metadata.Cause, moment(e.RecordedAt), e.Name, encoded(e.Event)))
	}
	first := int64(0)
	if len(engine) > 0 {
		first = engine[0].Position
	}
	for i, e := range expected {
		want = append(want, fmt.Sprintf("%d %s/%d %s %s %s %s %s %s %s", first+int64(i), e.Stream, e.Version, e.Actor, e.Saga,
			e.Correlation, e.Cause, moment(e.At), e.Event.EventName(), encoded(e.Event)))
		if i < len(engine) && e.ID != uuid.Nil && engine[i].ID != e.ID {
			want[i] += " with the id " + e.ID.String()
		}
	}
	return Difference(is, want)
}

func encoded(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(bytes.TrimSpace(data))
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// rows are the tables that are compared, each row as one line.
var rows = []string{
	`select 'run ' || key, definition, steps::text, input::text, direction, status, step::text, queue, attempt::text,
		cancel_requested::text, lease_token::text,
		stream_version::text, about, number::text, awaits, correlation::text, run_at, step_deadline, lease_until from saga_run`,
	`select 'queue ' || queue, max_in_flight::text, paused::text, fails::text, open_until from saga_queue`,
	`select 'effect ' || key, saga_id::text, step, state, sends::text, coalesce(external_id, ''), token::text,
		generation::text, keyed_from::text,
		(request_mac <> '')::text, sent_at, keyed_at from effect`,
	`select 'webhook ' || event_id, id::text, state, attempts::text, order_id::text, (coalesce(error,
		'') like 'came again%')::text, received_at, next_at from webhook_inbox`,
	`select 'watch ' || order_id, reason, wakes::text, coalesce(cause, ''), next_at from payment_watch`,
	`select 'claim ' || server, kind, name, owner, taken_at from external_claim`,
	`select 'attempt ' || saga_id, token::text, step::text, coalesce(outcome, ''), coalesce(error_class, ''), started_at,
		finished_at, next_run_at from saga_attempt`,
}

// Rows are the lines of the engine's tables.
func Rows(ctx context.Context, pool *pgxpool.Pool) (all []string, err error) {
	b := &pgx.Batch{}
	for _, sql := range rows {
		b.Queue(sql).Query(func(found pgx.Rows) error {
			lines, err := pgx.CollectRows(found, line)
			all = append(all, lines...)
			return err
		})
	}
	return all, pool.SendBatch(ctx, b).Close()
}

func line(row pgx.CollectableRow) (string, error) {
	values, err := row.Values()
	return joined(values...), err
}

func joined(values ...any) string {
	parts := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			parts[i] = "-"
		case time.Time:
			parts[i] = moment(v)
		default:
			parts[i] = fmt.Sprint(v)
		}
	}
	return strings.Join(parts, " | ")
}

// Model are the same lines as the model has them.
func Model(m *model.Model) (all []string) {
	for _, w := range m.Runs {
		r := w.Run
		line, nth := trips.LineOf(trips.InputOf(r))
		all = append(all, joined("run "+
			r.Key, r.Definition, sorted(r.Steps), sorted(r.Input), r.Direction, w.Status, min(r.Step, len(r.Steps)-1),
			r.At().Queue, w.Attempt, r.Cancel,
			w.Token, r.Version, line, nth, w.Awaits, w.Correlation, w.RunAt, w.Deadline, w.Lease))
	}
	for name, q := range m.Queues {
		all = append(all, joined("queue "+name, q.Most, q.Paused, q.Fails, q.Open))
	}
	for key, e := range m.Effects {
		all = append(
			all,
			joined(
				"effect "+key, e.Run, e.Step, e.State, e.Sends, e.External, e.Token, e.Generation, e.KeyedFrom,
				e.Asked, e.Sent, e.Keyed,
			),
		)
	}
	for _, w := range m.Inbox.Webhooks {
		all = append(all, joined("webhook "+w.Event, w.Number, w.State, w.Attempts, w.Order, w.Flagged, w.Received, w.Next))
	}
	for order, w := range m.Inbox.Watches {
		all = append(all, joined("watch "+order.String(), w.Reason, w.Wakes, w.Cause, w.Next))
	}
	for at, held := range m.Claims {
		all = append(all, joined("claim "+at.Server, at.Kind, at.Name, held.Owner, held.Taken))
	}
	for key, a := range m.Attempts {
		all = append(all, joined("attempt "+key.Run.String(), key.Token, key.Step, a.Outcome, a.Class, a.Began, a.Ended, a.Next))
	}
	return all
}

// sorted is JSON in the form of Postgres' jsonb.
func sorted(v any) string {
	var any any
	if err := json.Unmarshal(sagas.Encode(v), &any); err != nil {
		panic(err)
	}
	return jsonb(any)
}
