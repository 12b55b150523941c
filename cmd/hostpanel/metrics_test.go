package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// figuresOf gathers what /metrics would show, as "name{label}" → value.
func figuresOf(t *testing.T, p *program) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(figures{p})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetValue() + "}"
			}
			found[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return found
}

func TestFiguresAreReadFromTheDatabaseWhenAskedFor(t *testing.T) {
	p := newProgram(t)
	found := figuresOf(t, p)
	if found["hostpanel_up"] != 1 || found["hostpanel_log_position"] < 10 || found["hostpanel_projection_live{orders}"] != 1 {
		t.Errorf("%v", found)
	}
	for _, g := range ofSagas {
		if name, _, _ := strings.Cut(strings.TrimPrefix(g.desc.String(), `Desc{fqName: "`), `"`); !has(found, name) {
			t.Errorf("%s is missing in %v", name, found)
		}
	}
}

func has(found map[string]float64, name string) bool { _, is := found[name]; return is }

func TestFiguresTellThatTheDatabaseIsAway(t *testing.T) {
	p := newProgram(t)
	p.log = slog.New(slog.DiscardHandler)
	p.pool.Close()
	p.readers.Close()
	found := figuresOf(t, p)
	delete(found, "hostpanel_password_hashes_total") // counted without a database
	if len(found) != 1 || found["hostpanel_up"] != 0 {
		t.Errorf("%v", found)
	}
	if checks := p.Ready(t.Context()); checks["database"] == "" {
		t.Errorf("ready without a database: %v", checks)
	}
}
