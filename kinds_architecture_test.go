package panel_test

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

// mayLookUp are the kinds of hosting resources that a part of the program may
// look up by name, because what it does is about that kind: orders make tenants,
// sites and machines; a site comes with all that goes with it; a CMS needs a
// database; certificates are ordered for sites; packages limit tenants, and plans
// name them.
var mayLookUp = map[string][]string{
	"cmd":         {"tenant", "vm"},
	"projections": {"tenant", "package"},
	"http":        {"tenant", "package", "site", "database", "ssl_certificate", "whitelabel"},
	"sagas": {
		"tenant", "package", "site", "vm", "database", "ssl_certificate", "proxy", "dns_zone", "dns_record", "mail_domain", "ftp_account",
	},
}

// mayCompare are names of kinds that are names of fields as well.
var mayCompare = []string{"tenant", "package"}

// A kind is one row, one file, and one file in each engine's adapter
// (CONTRIBUTING.md, "A hosting kind"). All other code asks the row: it compares
// no kind's name, and looks up only the kinds that it is about.
func TestNoKindIsNamedOutsideItsPlace(t *testing.T) {
	everyProgramFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") || helpsTests(path) || strings.HasPrefix(path, "domain/") ||
			strings.HasPrefix(path, "adapters/") {
			return
		}
		file := parsed(t, path)
		compared, lookedUp := namedKinds(file)
		for _, at := range compared {
			if kind, _ := strconv.Unquote(at.Value); !slices.Contains(mayCompare, kind) {
				t.Errorf("%s compares the kind %s: let a field of hosting.Kind tell what is asked for", sources.Position(at.Pos()), kind)
			}
		}
		for _, at := range lookedUp {
			if kind, _ := strconv.Unquote(at.Value); !slices.Contains(mayLookUp[part(path)], kind) {
				t.Errorf("%s looks up the kind %s: let a field of hosting.Kind tell what is asked for", sources.Position(at.Pos()), kind)
			}
		}
	})
}

// lookups are the functions that take the name of a kind.
var lookups = []string{"KindNamed", "kindOf", "NextIDs", "nextID", "NameTaken", "NameTakenByOthers", "Among", "Find", "PartsOf"}

// namedKinds are the names of kinds that a file compares or switches on, and
// those that it declares (certificateKind) or looks up: Kind: "site".
func namedKinds(file *ast.File) (compared, lookedUp []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			compared = append(compared, kindsAmong(n.X, n.Y)...)
		case *ast.CaseClause:
			compared = append(compared, kindsAmong(n.List...)...)
		case *ast.CallExpr:
			if called, is := n.Fun.(*ast.SelectorExpr); is && slices.Contains(lookups, called.Sel.Name) {
				lookedUp = append(lookedUp, kindsAmong(n.Args...)...)
			}
		case *ast.ValueSpec:
			if strings.HasSuffix(n.Names[0].Name, "Kind") {
				lookedUp = append(lookedUp, kindsAmong(n.Values...)...)
			}
		case *ast.KeyValueExpr:
			if key, is := n.Key.(*ast.Ident); is && strings.EqualFold(key.Name, "kind") {
				lookedUp = append(lookedUp, kindsAmong(n.Value)...)
			}
		}
		return true
	})
	return compared, lookedUp
}

func kindsAmong(exprs ...ast.Expr) (all []*ast.BasicLit) {
	for _, e := range exprs {
		literal, is := e.(*ast.BasicLit)
		if !is || literal.Kind != token.STRING {
			continue
		}
		name, _ := strconv.Unquote(literal.Value)
		if _, known := hosting.KindNamed(name); known {
			all = append(all, literal)
		}
	}
	return all
}
