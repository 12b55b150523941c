package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// ofNoRecord are listings of what no other part of the panel shows, of runs, which are listed
// with the step at which each stands, and of stock, whose columns are all fields of its kind.
var ofNoRecord = map[string]bool{"sandboxList": true, "runsList": true, "stockList": true}

// Every listing prints the fields of a record, which the API's answers and the pages show
// too. So none has columns of its own.
func TestEveryListingShowsTheFieldsOfItsRecord(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	found := 0
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			run, is := d.(*ast.FuncDecl)
			if !is || run.Recv == nil || run.Name.Name != "Run" {
				continue
			}
			of, is := run.Recv.List[0].Type.(*ast.Ident)
			if !is || !strings.HasSuffix(of.Name, "List") || ofNoRecord[of.Name] {
				continue
			}
			found++
			if !calls(run.Body, "console", "List") {
				t.Errorf("%s of %s has columns of its own", of.Name, path)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d listings were found", found)
	}
}

// calls reports whether a body calls a function of a package.
func calls(body ast.Node, pkg, name string) (does bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if s, is := n.(*ast.SelectorExpr); is {
			x, isName := s.X.(*ast.Ident)
			does = does || isName && x.Name == pkg && s.Sel.Name == name
		}
		return !does
	})
	return does
}
