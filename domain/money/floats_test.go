package money_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// M-1: nothing near money is inexact, and nothing is divided but once, here.
func TestNothingNearMoneyIsInexact(t *testing.T) {
	inexact := []string{"float32", "float64", "InexactFloat64", "Float64", "NewFromFloat", "ParseFloat", "Div"}
	files := 0
	for _, folder := range []string{".", "../order", "../billing", "../storefront", "../tax", "../../adapters/payments"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && slices.Contains(inexact, id.Name) {
					t.Errorf("%s uses %s", path, id.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 15 {
		t.Errorf("only %d files were looked at", files)
	}
}
