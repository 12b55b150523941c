//go:build system

package program

import (
	"log/slog"
	"testing"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/eventstore/eventstoretest"
)

func TestAStartWaitsWhileTheDatabaseRecovers(t *testing.T) {
	r, through := recoverFor(t, eventstoretest.URL(t), 3)
	p := &Program{Config: &config.Config{DatabaseURL: through}, Log: slog.New(slog.DiscardHandler)}
	if err := p.database(t.Context(), need{}); err != nil {
		t.Fatal(err)
	}
	if r.left.Load() >= 0 {
		t.Error("it has not waited for the server")
	}
}
