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

// CodeAt is the code of a second factor in a step of 30 seconds.
func CodeAt(secret string, step int64) string { return codeAt(secret, step) }

// StepOf is the step that a code is of, at a moment.
var StepOf = stepOf
