//go:build system

package years_test

// small are tables that do not grow with what has happened: settings, rows that are removed
// once they are over, and one row per user with a second factor, which the janitor reads.
var small = []string{
	"business_clock_ahead", "readers", "projections", "saga_queue", "log_origins", "browser_sessions", "rate_windows",
	"second_factors",
}
