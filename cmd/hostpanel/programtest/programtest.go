// Package programtest puts a whole panel together for tests, on databases of their own.
package programtest

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
)

// SecretKey is that of every panel that Open puts together.
const SecretKey = "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktMDEyMzQ="

// Demo is a demo on a database of the test's own, with nothing served.
func Demo(t *testing.T) *program.Program {
	t.Helper()
	url := eventstoretest.Database(t, "programtest, demo", func(ctx context.Context, url string) error {
		dir := t.TempDir()
		p := Open(t, url, dir, true)
		defer p.Close()
		if err := serve.SeedDemo(ctx, p); err != nil {
			return err
		}
		var err error
		description, err = os.ReadFile(filepath.Join(dir, "demo.json"))
		return err
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "demo.json"), description, 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(t, url, dir, true)
}

// description is the file in which the demo of the template describes itself.
var description []byte

// Open puts a panel together on a database of the test's own, with nothing served.
func Open(t *testing.T, url, dir string, demo bool) *program.Program {
	t.Helper()
	cfg, err := config.New(config.Settings{
		DatabaseURL: url, DataDir: dir, PublicURL: "https://panel.example.com",
		SecretKey: SecretKey,
	}, demo)
	if err != nil {
		t.Fatal(err)
	}
	p, err := program.Open(t.Context(), cfg, slog.Default(), program.Serving)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	p.Store.Attach(eventstoretest.Caused()) // main gives each command a cause
	return p
}

// Figures gathers what /metrics would show, as "name{label}" → value.
func Figures(t *testing.T, p *program.Program) map[string]float64 {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(p.Figures())
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
