package eventstore

import (
	"fmt"
	"testing"
	"time"
)

func TestAReaderThatDoesNotMoveForAMinuteIsStuck(t *testing.T) {
	w, start := &ReaderWatch{}, time.Now()
	for _, look := range []struct {
		after          time.Duration
		position, head int64
		stuck          bool
	}{
		{0, 5, 5, false},
		{time.Hour, 5, 5, false},                         // there was nothing to read
		{time.Hour + time.Second, 5, 6, false},           // for a second
		{time.Hour + 59*time.Second, 5, 900, false},      // for 58 seconds
		{time.Hour + 61*time.Second, 5, 900, true},       // for a minute
		{time.Hour + 62*time.Second, 6, 900, false},      // it has moved
		{time.Hour + 121*time.Second, 7, 900, false},     // slowly
		{time.Hour + 181*time.Second, 7, 900, true},      //
		{time.Hour + 182*time.Second, 900, 900, false},   // it has read all
		{2*time.Hour + 182*time.Second, 900, 900, false}, //
		{2*time.Hour + 183*time.Second, 900, 901, false}, //
	} {
		got := w.stuck([]readerPosition{{"a", look.position, look.head}, {"b", look.head, look.head}}, start.Add(look.after))
		want := "[]"
		if look.stuck {
			want = fmt.Sprintf("[{a %d}]", look.position)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("after %s at %d of %d: %v", look.after, look.position, look.head, got)
		}
	}
}
