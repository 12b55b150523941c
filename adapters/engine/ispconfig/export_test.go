package ispconfig

// Bound sets how long an answer may be, in bytes.
func (e *Engine) Bound(bytes int64) { e.api.longest = bytes }
