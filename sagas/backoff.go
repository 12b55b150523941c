package sagas

import (
	"math/rand/v2"
	"time"
)

// BackOff is the pause after the n-th failure in a row: longer each time,
// spread at random so that many do not come back at once.
func BackOff(least, base, limit time.Duration, n int) time.Duration {
	most := limit
	if n < 30 && base<<(max(n, 1)-1) < limit {
		most = base << (max(n, 1) - 1)
	}
	return max(least, rand.N(max(most, 1)))
}

// Jittered is d, give or take a fifth.
func Jittered(d time.Duration) time.Duration {
	return d*4/5 + rand.N(max(d*2/5, 1))
}
