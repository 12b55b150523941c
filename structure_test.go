package panel_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

var writeStructure = flag.Bool("structure", false, "write docs/generated/structure.md anew")

// The limits of the structure (CONTRIBUTING.md, "Style").
const (
	mostFiles        = 40  // of a package, tests excepted
	mostMethods      = 60  // of an object, promoted ones among them
	mostLines        = 370 // of a file, tests excepted
	medianFunction   = 7   // lines of a body
	p90Function      = 20
	leastDocumented  = 95 // percent of the exported names
	structureDocPath = "docs/generated/structure.md"
)

// overdue are the walls that are still to be built. The list only shrinks: a
// line that is kept by now fails the test.
var overdue = map[string]bool{}

// packageSize is what is measured of one package. Tests do not count.
type packageSize struct {
	path                 string
	files, lines         int
	longest              string // file, with its lines
	longestLines         int
	exported, documented int
	methods              map[string]int // by receiver
}

// receiver is the type with the most methods.
func (p packageSize) receiver() (name string, methods int) {
	for _, r := range slices.Sorted(maps.Keys(p.methods)) {
		if p.methods[r] > methods {
			name, methods = r, p.methods[r]
		}
	}
	return name, methods
}

// isTestHelp tells whether a package helps tests only: its name ends in "test".
func isTestHelp(folder string) bool { return strings.HasSuffix(folder, "test") }

// measure reads all Go files of the program but tests. The second answer is the length of each
// function's body in lines.
func measure(t *testing.T) ([]packageSize, []int) {
	t.Helper()
	packages, functions := map[string]*packageSize{}, []int{}
	everyProgramFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		p := packages[folder]
		if p == nil {
			p = &packageSize{path: folder, methods: map[string]int{}}
			packages[folder] = p
		}
		file := parsed(t, path)
		lines := sources.Position(file.FileEnd).Line
		p.files, p.lines = p.files+1, p.lines+lines
		if lines > p.longestLines {
			p.longest, p.longestLines = filepath.Base(path), lines
		}
		functions = append(functions, p.add(sources, file)...)
	})
	sizes := make([]packageSize, 0, len(packages))
	for _, folder := range slices.Sorted(maps.Keys(packages)) {
		sizes = append(sizes, *packages[folder])
	}
	return sizes, functions
}

func (p *packageSize) add(files *token.FileSet, file *ast.File) (functions []int) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				functions = append(functions, sources.Position(d.Body.End()).Line-sources.Position(d.Body.Pos()).Line+1)
			}
			receiver := receiverOf(d)
			if receiver != "" {
				p.methods[receiver]++
			}
			if receiver == "" || ast.IsExported(receiver) {
				p.document(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					p.document(s.Name, cmp.Or(s.Doc, d.Doc, s.Comment))
				case *ast.ValueSpec:
					for _, name := range s.Names {
						p.document(name, cmp.Or(s.Doc, d.Doc, s.Comment))
					}
				}
			}
		}
	}
	return functions
}

// standard are methods whose meaning an interface of the standard library or
// of package domain gives.
var standard = []string{
	"String", "Error", "Unwrap", "Is", "As", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "Scan", "Value",
	"Len", "Less", "Swap", "Close", "Read", "Write", "ServeHTTP", "EventName", "Says", "Stream", "Subject", "Fields", "TenantID",
}

func (p *packageSize) document(name *ast.Ident, doc *ast.CommentGroup) {
	if !name.IsExported() || slices.Contains(standard, name.Name) {
		return
	}
	p.exported++
	if doc != nil {
		p.documented++
	}
}

func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func percentile(sorted []int, percent int) int { return sorted[(len(sorted)-1)*percent/100] }

// Nothing outgrows its walls: packages, receivers, files and functions stay as
// small as CONTRIBUTING.md says, and what is exported says what it is.
func TestNothingOutgrowsItsWalls(t *testing.T) {
	packages, functions := measure(t)
	slices.Sort(functions)
	exported, documented := 0, 0
	for _, p := range packages {
		exported, documented = exported+p.exported, documented+p.documented
		if isTestHelp(p.path) {
			continue
		}
		kept(t, p.path, "files", p.files, mostFiles)
		kept(t, p.path+"/"+p.longest, "lines", p.longestLines, mostLines)
	}
	kept(t, "the median function", "lines", percentile(functions, 50), medianFunction)
	kept(t, "the ninetieth percentile of functions", "lines", percentile(functions, 90), p90Function)
	kept(t, "documentation", "percent of exported names without it", 100-100*documented/exported, 100-leastDocumented)
	if *writeStructure {
		writeStructureDoc(t, packages, functions, exported, documented)
	}
}

// kept checks one measure against its limit.
func kept(t *testing.T, what, unit string, measured, most int) {
	t.Helper()
	switch {
	case measured > most && !overdue[what]:
		t.Errorf("%s: %d %s; at most %d", what, measured, unit, most)
	case measured <= most && overdue[what]:
		t.Errorf("%s is within its limit now: take it off the list overdue", what)
	}
}

func writeStructureDoc(t *testing.T, packages []packageSize, functions []int, exported, documented int) {
	t.Helper()
	var b strings.Builder
	b.WriteString(
		"# Structure, as measured\n\nGenerated by `make structure`. Test files do not count, nor do tools, which are " +
			"modules of\ntheir own; lines include comments.\n\n",
	)
	lines := 0
	for _, p := range packages {
		lines += p.lines
	}
	fmt.Fprintf(&b, "| measure | value | limit |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| Go lines | %d | |\n| packages | %d | |\n", lines, len(packages))
	fmt.Fprintf(&b, "| Go lines of tools | %d | |\n", linesOfTools(t))
	fmt.Fprintf(&b, "| functions | %d | |\n", len(functions))
	fmt.Fprintf(&b, "| lines of a function: median, p90, longest | %d, %d, %d | %d, %d, |\n",
		percentile(functions, 50), percentile(functions, 90), functions[len(functions)-1], medianFunction, p90Function)
	fmt.Fprintf(&b, "| exported names documented | %d of %d | %d %% |\n", documented, exported, leastDocumented)
	fmt.Fprintf(&b, "| lines of Go over %d columns | %d | warning |\n", mostGoodColumns, len(longLines(t, mostGoodColumns)))
	fmt.Fprintf(&b, "| lines of Go over %d columns | %d | 0 |\n", mostColumns, len(longLines(t, mostColumns)))
	fmt.Fprintf(&b, "| words to avoid (CONTRIBUTING.md, \"Style\") in comments and pages | %d | 0 |\n\n", wordsToAvoid(t))
	fmt.Fprintf(&b, "| package | files | lines | longest file | largest receiver |\n|---|---|---|---|---|\n")
	for _, p := range packages {
		name, methods := p.receiver()
		largest := ""
		if methods > 0 {
			largest = fmt.Sprintf("%s, %d methods", name, methods)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %s, %d | %s |\n", p.path, p.files, p.lines, p.longest, p.longestLines, largest)
	}
	b.WriteString("\n| kind | files that name it | of them its own |\n|---|---|---|\n")
	places := placesOfKinds(t)
	for _, kind := range hosting.Kinds {
		own := 0
		for _, path := range places[kind.Name] {
			if strings.HasPrefix(path, "domain/hosting/") || strings.HasPrefix(path, "adapters/") {
				own++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", kind.Name, len(places[kind.Name]), own)
	}
	if err := os.WriteFile(structureDocPath, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	fmt.Print(b.String())
}

// linesOfTools counts those of modules of their own, tests excepted.
func linesOfTools(t *testing.T) (lines int) {
	t.Helper()
	count := func(by int) func(string) {
		return func(path string) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(path, "_test.go") {
				lines += by * bytes.Count(text, []byte("\n"))
			}
		}
	}
	everyGoFile(t, count(1))
	everyProgramFile(t, count(-1))
	return lines
}

// wordsToAvoid counts the faults that sentences_test.go finds.
func wordsToAvoid(t *testing.T) (n int) {
	t.Helper()
	everyGoFile(t, func(path string) {
		if path != "sentences_test.go" {
			n += len(commentFaults(t, path))
		}
	})
	for _, page := range pages(t) {
		n += len(pageFaults(t, page))
	}
	return n
}

// placesOfKinds are the files that name each kind of hosting resources in a
// string, tests excepted.
func placesOfKinds(t *testing.T) map[string][]string {
	t.Helper()
	places := map[string][]string{}
	everyProgramFile(t, func(path string) {
		if strings.HasSuffix(path, "_test.go") || isTestHelp(filepath.Dir(path)) {
			return
		}
		file := parsed(t, path)
		ast.Inspect(file, func(n ast.Node) bool {
			if e, is := n.(ast.Expr); is {
				for _, at := range kindsAmong(e) {
					if kind, _ := strconv.Unquote(at.Value); !slices.Contains(places[kind], path) {
						places[kind] = append(places[kind], path)
					}
				}
			}
			return true
		})
	})
	return places
}
