//go:build system

// Package program_test has the stories that start the compiled program.
package program_test

import (
	"testing"

	"hostpanel/http/browsertest"
	"hostpanel/tests/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m, browsertest.Close) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
