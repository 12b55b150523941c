package operations

import "time"

// Times are the durations of checks that run by themselves.
type Times struct {
	VerifyRest  time.Duration // between two checks of the whole log; 0: it is not checked
	VerifyPause time.Duration // between two parts of one
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{VerifyRest: 24 * time.Hour, VerifyPause: 250 * time.Millisecond}
