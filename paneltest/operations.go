package paneltest

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write openapi.json and testdata/routes.txt anew")

// Current compares a committed file with what it should be.
func Current(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Fatalf("%s is not current; run go test ./http -run '%s' -update (%v)", file, t.Name(), err)
	}
}
