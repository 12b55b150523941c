package program_test

import (
	"log/slog"
	"testing"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
)

func TestFiguresAreReadFromTheDatabaseWhenAskedFor(t *testing.T) {
	p := programtest.Demo(t)
	found := programtest.Figures(t, p)
	if found["hostpanel_up"] != 1 || found["hostpanel_log_position"] < 10 || found["hostpanel_projection_live{orders}"] != 1 {
		t.Errorf("%v", found)
	}
	for _, name := range program.SagaFigures() {
		if _, is := found[name]; !is {
			t.Errorf("%s is missing in %v", name, found)
		}
	}
}

func TestFiguresTellThatTheDatabaseIsAway(t *testing.T) {
	p := programtest.Demo(t)
	p.Log = slog.New(slog.DiscardHandler)
	p.Pool.Close()
	p.Readers.Close()
	found := programtest.Figures(t, p)
	delete(found, "hostpanel_password_hashes_total") // counted without a database
	if len(found) != 1 || found["hostpanel_up"] != 0 {
		t.Errorf("%v", found)
	}
	if checks := p.Ready(t.Context()); checks["database"] == "" {
		t.Errorf("ready without a database: %v", checks)
	}
}
