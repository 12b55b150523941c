//go:build system

package eventstore_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// The database crashes again and again while sixteen clients write. Each of
// them repeats its request under the same id until it is answered: in the end
// every request stands in the log exactly once, whether its commit, or only
// the answer to it, was lost.
func TestCrashesOfTheDatabaseLoseNothingAndRepeatNothing(t *testing.T) {
	cluster := eventstoretest.Private(t, nil)
	owner := eventstoretest.Owner(t, cluster.URL())
	if err := eventstore.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	owner.Close()
	s := storeOn(t, eventstoretest.Pool(t, cluster.URL()))
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()

	const clients, crashes = 16, 3
	done := make(chan struct{})
	requests := make([]int, clients)
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				requests[client]++
				insist(ctx, t, s, putIn{fmt.Sprint(client % 8), 1}) // two clients share a stream
			}
		})
	}
	for range crashes {
		time.Sleep(300 * time.Millisecond) // let them write; any moment will do
		eventstoretest.Restart(t, cluster)
	}
	close(done)
	wg.Wait()

	want := 0
	for _, n := range requests {
		want += n
	}
	verdict, err := s.Reader().Verify(ctx, nil)
	if err != nil || !verdict.Intact || verdict.Checked != int64(want) {
		t.Errorf("%d requests were answered, the log: %+v, %v", want, verdict, err)
	}
	t.Logf("%d requests over %d crashes", want, crashes)
}
