package panel_test

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// A typeName names a type by its package's folder.
type typeName struct{ folder, name string }

// A declaredType is what counts of a type for its method set: the methods that
// it declares itself, and the types that it embeds.
type declaredType struct {
	methods map[string]bool
	embeds  []typeName
}

// methodSets are the types of the program with what they declare and embed.
// Types of other modules are not among them: their methods do not count.
type methodSets map[typeName]*declaredType

func (m methodSets) of(t typeName) *declaredType {
	if m[t] == nil {
		m[t] = &declaredType{methods: map[string]bool{}}
	}
	return m[t]
}

// add reads one file of a folder.
func (m methodSets) add(folder string, file *ast.File) {
	imports := map[string]string{}
	for _, i := range file.Imports {
		target, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(target)
		if i.Name != nil {
			name = i.Name.Name
		}
		if inside, ours := strings.CutPrefix(target, module); ours {
			imports[name] = inside
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if receiver := receiverOf(d); receiver != "" {
				m.of(typeName{folder, receiver}).methods[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, is := spec.(*ast.TypeSpec); is {
					m.declare(typeName{folder, s.Name.Name}, s.Type, imports)
				}
			}
		}
	}
}

func (m methodSets) declare(t typeName, is ast.Expr, imports map[string]string) {
	fields := &ast.FieldList{}
	switch is := is.(type) {
	case *ast.StructType:
		fields = is.Fields
	case *ast.InterfaceType:
		fields = is.Methods
	}
	for _, f := range fields.List {
		if _, method := f.Type.(*ast.FuncType); method && len(f.Names) == 1 {
			if _, iface := is.(*ast.InterfaceType); iface {
				m.of(t).methods[f.Names[0].Name] = true
			}
		}
		if len(f.Names) == 0 {
			if embedded := embeddedName(t.folder, f.Type, imports); embedded.name != "" {
				m.of(t).embeds = append(m.of(t).embeds, embedded)
			}
		}
	}
}

// embeddedName is the type of an embedded field; without a name: it is of another module.
func embeddedName(folder string, of ast.Expr, imports map[string]string) typeName {
	switch e := of.(type) {
	case *ast.StarExpr:
		return embeddedName(folder, e.X, imports)
	case *ast.IndexExpr:
		return embeddedName(folder, e.X, imports)
	case *ast.IndexListExpr:
		return embeddedName(folder, e.X, imports)
	case *ast.Ident:
		return typeName{folder, e.Name}
	case *ast.SelectorExpr:
		if of, is := e.X.(*ast.Ident); is && imports[of.Name] != "" {
			return typeName{imports[of.Name], e.Sel.Name}
		}
	}
	return typeName{}
}

// all are the names of a type's methods, promoted ones among them.
func (m methodSets) all(t typeName) map[string]bool {
	found := map[string]bool{}
	m.collect(t, found, map[typeName]bool{})
	return found
}

func (m methodSets) collect(t typeName, found map[string]bool, seen map[typeName]bool) {
	if seen[t] || m[t] == nil {
		return
	}
	seen[t] = true
	for name := range m[t].methods {
		found[name] = true
	}
	for _, embedded := range m[t].embeds {
		m.collect(embedded, found, seen)
	}
}

// doubles are test doubles that stand for a whole system: each is parted by area in files
// of its own, and stories call all of it by one name. The list only shrinks.
var doubles = map[string]string{
	"paneltest.Browser":                          "pages of every area, a file an area",
	"paneltest.Shop":                             "the whole panel, a file an area",
	"sagas/sagastest.World":                      "the runner and every area, a file an area",
	"sagas/sagastest.Purchase":                   "a world with an order",
	"sagas/sagastest.Household":                  "a world with a tenant",
	"sagas/sagastest.Renewals":                   "a household with subscriptions",
	"adapters/engine/enginetest.world":           "every function of an engine, a file a kind",
	"adapters/payments/stripe/stripetest.Server": "every endpoint of Stripe, a file a resource",
	"adapters/payments/paypal/paypaltest.PayPal": "every endpoint of PayPal, a file a resource",
}

// No object has more methods than a reader can hold, those of embedded types among them.
func TestNoObjectHasTooManyMethods(t *testing.T) {
	sets := methodSets{}
	everyProgramFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file := parsed(t, path)
		folder := filepath.ToSlash(filepath.Dir(path))
		sets.add(folder, file)
		for name, of := range onlyEmbedding(file) {
			if !isTestHelp(folder) {
				t.Errorf("%s: %s is nothing but an embedded %s: give it fields of its own", path, name, of)
			}
		}
	})
	for of := range sets {
		name, methods := of.folder+"."+of.name, len(sets.all(of))
		switch {
		case methods > mostMethods && doubles[name] == "":
			t.Errorf("%s has %d methods, promoted ones among them; at most %d", name, methods, mostMethods)
		case methods <= mostMethods && doubles[name] != "":
			t.Errorf("%s has %d methods only: take it off the list doubles", name, methods)
		}
	}
}

// onlyEmbedding are the types of a file whose one field is an embedded pointer, or an
// embedded interface of the same file or of the language.
func onlyEmbedding(file *ast.File) map[string]string {
	interfaces, found := map[string]bool{"error": true}, map[string]string{}
	specs := map[string]*ast.StructType{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, is := n.(*ast.TypeSpec); is {
			switch as := s.Type.(type) {
			case *ast.InterfaceType:
				interfaces[s.Name.Name] = true
			case *ast.StructType:
				specs[s.Name.Name] = as
			}
		}
		return true
	})
	for name, s := range specs {
		if len(s.Fields.List) != 1 || len(s.Fields.List[0].Names) > 0 {
			continue
		}
		switch of := s.Fields.List[0].Type.(type) {
		case *ast.StarExpr:
			found[name] = "pointer"
		case *ast.Ident:
			if interfaces[of.Name] {
				found[name] = "interface"
			}
		}
	}
	return found
}

// mostColumns are the columns that a line of Go may have, with a tab as four. Lines of more
// than mostGoodColumns are counted in docs/generated/structure.md.
const mostColumns, mostGoodColumns = 140, 120

// longLines are the lines of Go, tests and tools among them, that have more columns.
func longLines(t *testing.T, columns int) (places []string) {
	t.Helper()
	everyGoFile(t, func(path string) {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > columns {
				places = append(places, path+":"+strconv.Itoa(n+1))
			}
		}
	})
	return places
}

func TestNoLineIsTooLong(t *testing.T) {
	for _, place := range longLines(t, mostColumns) {
		t.Errorf("%s has more than %d columns", place, mostColumns)
	}
}
