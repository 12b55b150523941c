package paneltest

import (
	"testing"
	"time"
)

func WaitFor(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Error("nothing happens")
			return
		}
	}
}
