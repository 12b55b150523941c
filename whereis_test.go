package panel_test

import (
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A row of the table "Where is …": question, file, function.
var whereIsRow = regexp.MustCompile("(?m)^\\| (.+?) \\| `([^`]+\\.go)` \\| `([^`]+)` \\|$")

// Each file and function that CONTRIBUTING.md names under "Where is …" exists.
func TestTheTableWhereIsNamesFilesAndFunctionsThatExist(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Where is …\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := whereIsRow.FindAllStringSubmatch(table, -1)
	if lines := strings.Count(table, "\n|") - 2; len(rows) != lines || lines < 20 {
		t.Errorf("%d of %d rows name a question, a file and a function; at least 20 do", len(rows), lines)
	}
	declared := map[string][]string{}
	everyGoFile(t, func(path string) {
		for _, name := range declarations(t, path) {
			declared[name] = append(declared[name], path)
		}
	})
	for _, row := range rows {
		if file, name := row[2], row[3]; !slices.Contains(declared[name], file) {
			t.Errorf("%s: %s has no %s; it is declared in %v", row[1], file, name, declared[name])
		}
	}
}

// declarations are the names of a file's functions, methods (Type.method),
// variables and types.
func declarations(t *testing.T, path string) (names []string) {
	t.Helper()
	file := parsed(t, path)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, funcName(d))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := d.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "." + d.Name.Name
	}
	return d.Name.Name
}
