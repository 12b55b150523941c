package accounts

import "time"

// Times are the durations of one-time links and of password resets.
type Times struct {
	LinkLife time.Duration // of a link that an operator hands over
	RetryCap time.Duration // between two tries to answer a password reset
}
