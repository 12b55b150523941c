package eventstore

import (
	"hash/maphash"
	"slices"
	"sync"

	"hostpanel/domain"
)

// Turns order the requests of this process on the same streams. First attempts go
// side by side. A repeated attempt waits for those under way on its streams, and
// goes alone: no other request of this process can be faster again. Requests in
// journals go alone at once, because simultaneous ones would often conflict.
type turns struct {
	seed maphash.Seed
	of   [1024]sync.RWMutex // streams share them
}

// take waits for the turn on the streams of commands. The result ends it.
func (t *turns) take(commands []domain.Command, alone bool) (end func()) {
	places := make([]uint64, len(commands))
	for i, c := range commands {
		places[i] = maphash.String(t.seed, c.Stream().String()) % uint64(len(t.of))
	}
	slices.Sort(places) // in one order, so that no two requests wait for each other
	places = slices.Compact(places)
	for _, at := range places {
		if alone {
			t.of[at].Lock()
		} else {
			t.of[at].RLock()
		}
	}
	return func() {
		for _, at := range places {
			if alone {
				t.of[at].Unlock()
			} else {
				t.of[at].RUnlock()
			}
		}
	}
}
