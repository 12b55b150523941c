package credentials

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
