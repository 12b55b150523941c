package eventstore

import "hostpanel/domain"

// OccupyHashing takes all places where hashes of passwords are computed, until
// the answer is called.
func OccupyHashing() (leave func()) {
	for range cap(hashing) {
		hashing <- struct{}{}
	}
	return func() {
		for range cap(hashing) {
			<-hashing
		}
	}
}

// Remembered is how many facts of a stream this process keeps in memory.
func (s *Store) Remembered(stream domain.Stream) int {
	history, _ := s.recent.get(stream)
	return len(history)
}

const KeysStand = keysStand
