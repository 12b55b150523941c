package panel_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// timeInSQL matches what asks Postgres for the time.
var timeInSQL = regexp.MustCompile(
	`(?i)(^|[^a-z_.])((now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\(\)|` +
		`(current_timestamp|current_date|current_time|localtimestamp|localtime)\b)`,
)

// Only package clock asks for the time. All other code asks one of its two
// clocks by name (docs/clocks.md).
func TestTheTimeIsAskedOfOneOfTheTwoClocks(t *testing.T) {
	everyProgramFile(t, func(path string) {
		path = filepath.ToSlash(path)
		if strings.HasSuffix(path, "_test.go") || helpsTests(path) || isOfClocks(path) {
			return
		}
		file := parsed(t, path)
		ast.Inspect(file, func(n ast.Node) bool {
			if found := timeAsked(n); found != "" {
				t.Errorf("%s asks for the time by %s: ask package clock, or its functions in SQL", sources.Position(n.Pos()), found)
			}
			return true
		})
	})
}

// timeAsked is how a node asks for the time without a clock, if it does.
func timeAsked(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		of, ok := n.X.(*ast.Ident)
		if ok && of.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Since" || n.Sel.Name == "Until") {
			return "time." + n.Sel.Name
		}
	case *ast.BasicLit:
		if found := timeInSQL.FindStringSubmatch(n.Value); n.Kind == token.STRING && found != nil {
			return found[2]
		}
	}
	return ""
}

// helpsTests tells whether a file belongs to a package that helps tests only.
// The package named test is a payment provider.
func helpsTests(path string) bool {
	folder := filepath.Base(filepath.Dir(path))
	return folder != "test" && isTestHelp(folder)
}

func isOfClocks(path string) bool { return strings.HasPrefix(path, clocks+"/") }

func TestMigrationsAskOneOfTheTwoClocks(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".sql" || isOfClocks(filepath.ToSlash(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if found := timeInSQL.FindStringSubmatch(string(text)); found != nil {
			t.Errorf("%s asks for the time by %s: use business_now() or real_now()", path, found[2])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheClockRuleSeesWhatItForbids(t *testing.T) {
	for sql, want := range map[string]bool{
		"select now()": true, "run_at <= NOW()": true, "now() - interval '1 day'": true, "default current_timestamp": true,
		"clock_timestamp()": true, "select business_now(), real_now()": false, "real_clock()": false, "p.now()": false,
		"It is on now (always)": false,
	} {
		if timeInSQL.MatchString(sql) != want {
			t.Errorf("%q: want forbidden = %t", sql, want)
		}
	}
}
