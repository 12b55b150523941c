package http_test

import (
	"runtime/debug"
	"testing"

	"hostpanel/http/browsertest"
)

// TestMain collects garbage less often: the tests read and write far more JSON
// than they keep.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	browsertest.Main(m)
}
