package main

import (
	"os"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/bench"
)

func TestProf(t *testing.T) {
	panel := bench.Panel{Catalogue: catalogue(), Serve: serveAll, Migrations: migrations()}
	if err := bench.Run(t.Context(), bench.Options{Smoke: os.Getenv("FULL") == "", Only: strings.Fields(os.Getenv("ONLY")), Out: os.Stdout, Panel: panel}); err != nil {
		t.Fatal(err)
	}
}
