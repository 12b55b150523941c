package sagas_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestNothingHereReachesTheOutsideButThroughPorts(t *testing.T) { // W-1
	files, err := filepath.Glob("*.go")
	areas, broken := filepath.Glob("*/*.go")
	if files = append(files, areas...); err != nil || broken != nil || len(files) < 80 {
		t.Fatalf("got %d files: %v, %v", len(files), err, broken)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(filepath.Dir(name), "test") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if path == "net/http" || path == "net/smtp" || path == "os/exec" || strings.HasPrefix(path, "hostpanel/adapters") {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
}
