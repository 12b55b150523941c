//go:build system

package program_test

import (
	"testing"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
)

func TestFiguresAreReadFromTheDatabaseWhenAskedFor(t *testing.T) {
	p := programtest.Demo(t)
	found := programtest.Figures(t, p)
	if found["hostpanel_up"] != 1 || found["hostpanel_log_position"] < 10 ||
		found["hostpanel_projection_live{orders}"] != 1 {
		t.Errorf("%v", found)
	}
	for _, name := range program.SagaFigures() {
		if _, is := found[name]; !is {
			t.Errorf("%s is missing in %v", name, found)
		}
	}
}
