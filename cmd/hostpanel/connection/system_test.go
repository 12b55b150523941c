//go:build system

package connection

import (
	"log/slog"
	"testing"

	"hostpanel/eventstore/eventstoretest"
)

func TestAStartWaitsWhileTheDatabaseRecovers(t *testing.T) {
	r, through := recoverFor(t, eventstoretest.URL(t), 3)
	if err := Await(t.Context(), through, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if r.left.Load() >= 0 {
		t.Error("it has not waited for the server")
	}
}
