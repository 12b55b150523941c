package credentials

import (
	"time"
)

// Times say how long credentials are good, and how long they are kept afterwards.
type Times struct {
	SessionLife time.Duration // of a browser session in all
	SessionIdle time.Duration // without a visit
	SessionStay time.Duration // of one whose user chose to stay signed in; 0: there is no such choice
	KeepLinks   time.Duration // of one-time links that have expired
}

// Defaults are the times of docs/configuration.md, "Retention".
var Defaults = Times{
	SessionLife: 12 * time.Hour, SessionIdle: 30 * time.Minute, SessionStay: 30 * 24 * time.Hour, KeepLinks: 30 * 24 * time.Hour,
}
