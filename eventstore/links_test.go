package eventstore_test

import (
	"fmt"
	"strings"
	"testing"
)

// The check keeps the ends of few streams. Those of others are read again: an event
// that goes on with a stream of long ago is checked like all others.
func TestAStreamThatGoesOnLaterIsCheckedByItsStoredEnd(t *testing.T) {
	t.Parallel()
	w := newWatched(t) // ten events in two streams
	for range 3 {
		for stream := range 7 {
			do(t, w.Store, putIn{fmt.Sprint("later", stream), 1})
		}
	}
	expect := func(what string, broken int64, reason string) {
		t.Helper()
		for _, kept := range []int{1, 3, 100} {
			v, err := w.Reader().VerifyKeeping(t.Context(), kept)
			if err != nil || v.Intact != (broken == 0) || v.Broken != broken || !strings.Contains(v.Reason, reason) {
				t.Errorf("%s, the ends of %d streams are kept: %+v, %v", what, kept, v, err)
			}
		}
	}
	expect("as it was", 0, "")
	w.forge(`update events set data = '{"coins":9}' where stream = 'till-later3' and version = 2`)
	expect("a changed event", 21, "hash")
	w.forge(`delete from events where stream = 'till-later1' and version = 2`)
	expect("a missing event", 19, "position")
	w.forge(`update events set version = 9 where stream = 'till-0' and version = 3`)
	expect("a missing version", 5, "version")
}
