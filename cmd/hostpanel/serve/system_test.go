//go:build system

package serve_test

import (
	"testing"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// Of several first starts at once, in one data directory, each ends with the
// demo that the log has.
func TestDemosThatStartAtOnceAgree(t *testing.T) {
	url, dir := eventstoretest.URL(t), t.TempDir()
	programs := make([]*program.Program, 3)
	for i := range programs {
		programs[i] = programtest.Open(t, url, dir, true)
	}
	errs := make(chan error, len(programs))
	for _, p := range programs {
		go func() { errs <- serve.SetUp(t.Context(), p, quiet) }()
	}
	for range programs {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if err := serve.SetUp(t.Context(), programtest.Open(t, url, dir, true), quiet); err != nil {
		t.Errorf("a later start: %v", err)
	}
	keys, err := programs[0].Tables.For(projections.System).Orders().APIKeys(t.Context(), projections.Listing{})
	if err != nil || len(keys.Rows) != 2 {
		t.Errorf("%+v, %v", keys, err)
	}
}
