//go:build system

package program_test

import (
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/programtest"
)

func TestFiguresAreReadFromTheDatabaseWhenAskedFor(t *testing.T) {
	p := programtest.Demo(t)
	found := programtest.Figures(t, p)
	if found["hostpanel_up"] != 1 || found["hostpanel_log_position"] < 10 ||
		found["hostpanel_projection_live{orders}"] != 1 {
		t.Errorf("%v", found)
	}
	// A demo has no witness and no reader of its log.
	read := map[string]bool{
		"hostpanel_log_witness_trouble": true, "hostpanel_reader_lag_events": true, "hostpanel_reader_lag_seconds": true,
	}
	for name := range found {
		name, _, _ = strings.Cut(name, "{")
		read[name] = true
	}
	for name := range namesIn(p.Figures()) {
		if !read[name] {
			t.Errorf("%s is missing in %v", name, found)
		}
	}
}
