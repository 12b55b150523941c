package projections

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// recordOf is the folded record as its JSON.
func recordOf(t *testing.T, fold *eventstore.Folding) string {
	t.Helper()
	record, err := fold.Record()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Events that come later change nothing of a state that was folded before: each is
// the same when it is folded anew from the log.
func TestTheStateOfEveryVersionIsWhatTheFoldSaidThen(t *testing.T) {
	t.Parallel()
	h := &history{panel: openPanel(t), chance: seeded(t)}
	h.writeUntil(t, "events", 400)
	folds, then := map[domain.Stream]*eventstore.Folding{}, map[domain.Stream][]string{}
	err := h.Afresh().Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error {
		if folds[e.Stream] == nil {
			folds[e.Stream], _ = h.Folding(e.Stream)
		}
		err := folds[e.Stream].Apply(e)
		then[e.Stream] = append(then[e.Stream], recordOf(t, folds[e.Stream]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	categories := map[string]bool{}
	for stream, records := range then {
		categories[stream.Category] = true
		for i := range records {
			if now := h.foldedUntil(t, stream, i+1); now != records[i] {
				t.Fatalf("%s/%d was\n%s\nand is\n%s", stream, i+1, records[i], now)
			}
		}
	}
	if len(categories) < 12 {
		t.Errorf("only %d categories", len(categories))
	}
}

func (h *history) foldedUntil(t *testing.T, stream domain.Stream, version int) string {
	t.Helper()
	events, err := h.Afresh().ReadUntil(t.Context(), stream, version, time.Time{})
	if err != nil || len(events) != version {
		t.Fatal(stream, version, len(events), err)
	}
	fold, _ := h.Folding(stream)
	for _, e := range events {
		if err := fold.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if fold.Version() != version {
		t.Fatal(fold.Version(), version)
	}
	return recordOf(t, fold)
}

// The present state of a resource has the fields of its row in the read table.
func TestTheStateOfAResourceHasTheFieldsOfItsRow(t *testing.T) {
	t.Parallel()
	h := &history{panel: openPanel(t), chance: seeded(t)}
	h.writeUntil(t, "resources", 25)
	rows, err := h.owner.Query(t.Context(), `select kind, id, version, sync_status, spec from resources`)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		stream     domain.Stream
		version    int
		syncStatus string
		spec       map[string]any
	}
	var found []row
	var kind, id, sync string
	var version int
	for rows.Next() {
		var spec map[string]any
		values := []any{&kind, new(int64), &version, &sync, &spec}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		id = numbered(*values[1].(*int64)) //nolint:forcetypeassert // made above
		found = append(found, row{domain.Stream{Category: kind, ID: id}, version, sync, spec})
	}
	for _, r := range found {
		var state map[string]any
		if err := json.Unmarshal([]byte(h.foldedUntil(t, r.stream, r.version)), &state); err != nil {
			t.Fatal(err)
		}
		if state["sync_status"] != r.syncStatus {
			t.Errorf("%s: %v is %v in the table", r.stream, state["sync_status"], r.syncStatus)
		}
		for name, value := range r.spec {
			if name != "is_active" && name != "replaces" && name != "failures" && !reflect.DeepEqual(state[name], value) {
				t.Errorf("%s: %s is %v, and %v in the table", r.stream, name, state[name], value)
			}
		}
	}
}
