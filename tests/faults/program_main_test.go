//go:build system

package faults_test

import (
	"testing"

	"hostpanel/tests/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
