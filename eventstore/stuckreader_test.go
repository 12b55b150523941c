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

// The janitor of a machine that was suspended looks before readers have had a chance, and so
// does one whose database was away.
func TestAReaderIsNotStuckForWhatStoppedAllReaders(t *testing.T) {
	w, start := &ReaderWatch{}, time.Now()
	at := func(after time.Duration) int {
		return len(w.stuck([]readerPosition{{"a", 5, 900}}, start.Add(after)))
	}
	for _, look := range []struct {
		after time.Duration
		stuck int
	}{
		{0, 0},
		{10 * time.Second, 0},
		{time.Hour, 0},                  // the machine was suspended
		{time.Hour + 10*time.Second, 0}, // for all that is known it is at work again
		{time.Hour + 20*time.Second, 1}, // it is not: ten seconds, thirty, and twenty
		{2 * time.Hour, 1},              // and nor is it now
		{2*time.Hour + time.Second, 1},  //
	} {
		if got := at(look.after); got != look.stuck {
			t.Errorf("after %s %d readers are stuck", look.after, got)
		}
	}
	w.forget() // the database did not answer
	if got := at(2*time.Hour + 2*time.Second); got != 0 {
		t.Errorf("%d readers are stuck because the database was away", got)
	}
	if at(2*time.Hour+62*time.Second) != 1 {
		t.Error("a reader that stands for a minute since then is not stuck")
	}
}
