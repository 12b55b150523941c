package audit

import "time"

// Times are the durations of what is kept beside the log.
type Times struct {
	KeepLooks time.Duration // who has looked at which stream
	KeepPacks time.Duration // evidence packs that were asked for
}

// Defaults are the times of docs/audit.md.
var Defaults = Times{KeepLooks: 365 * 24 * time.Hour, KeepPacks: 24 * time.Hour}
