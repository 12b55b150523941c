package projections

import (
	"encoding/json"
	"reflect"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore/eventstoretest"
)

// Events that come later change nothing of a state that was folded before, in all sorts of
// streams. Those of runs are in sagas/assembly/versions_test.go.
func TestTheStateOfEveryVersionIsWhatTheFoldSaidThen(t *testing.T) {
	t.Parallel()
	h := &history{panel: openPanel(t), chance: seeded(t)}
	h.writeUntil(t, "events", 400)
	h.writeUntil(
		t,
		`(select from events where split_part(stream, '-', 1) in ('webhook_delivery', 'security')
			group by split_part(stream, '-', 1)) rare`,
		2,
	)
	if categories := eventstoretest.EveryVersion(t, h.Store); len(categories) < 14 {
		t.Errorf("only %v", categories)
	}
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
		if err := json.Unmarshal(
			[]byte(eventstoretest.RecordOf(t, eventstoretest.FoldedUntil(t, h.Store, r.stream, r.version))), &state,
		); err != nil {
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
