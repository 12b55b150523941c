package eventstore

import (
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// A state that may not be used any more is not kept in memory either: it can hold the
// texts of a person who has been erased since.
func TestStatesThatAreTooOldLeaveTheCache(t *testing.T) {
	c := newStateCache()
	old, fresh := domain.Stream{Category: "order", ID: "1"}, domain.Stream{Category: "order", ID: "2"}
	c.put(old, foldedState{state: "Ana Ruiz", asOf: clock.Now()})
	c.put(old, foldedState{state: "Ana Ruiz", asOf: clock.Now().Add(-cachedFor)})
	c.put(fresh, foldedState{state: "Bea Sanz", asOf: clock.Now().Add(time.Hour)})
	if _, kept := c.known[old]; kept || c.used.Len() != 1 {
		t.Errorf("%d states are kept, and the old one among them: %v", c.used.Len(), kept)
	}
	if want := c.known[fresh].Value.(*cachedState).bytes; c.bytes != want {
		t.Errorf("the cache counts %d bytes, not %d", c.bytes, want)
	}
}
