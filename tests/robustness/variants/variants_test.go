// Package variants breaks the engine on purpose, in one place at a time, and demands that
// a test notices (docs/reliability.md, "Broken variants").
package variants

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"hostpanel/eventstore/clock"
)

// A variant is the engine with one deliberate fault.
type variant struct {
	name  string
	why   string // what it would cost
	edits []edit
	nets  []string // tests that have to fail, the narrowest one first
}

// An edit replaces a text that occurs once in a file.
type edit struct{ file, before, after string }

// root is the folder of the repository.
const root = "../../.."

// declared are the folders of all tests, by their names.
var declared = sync.OnceValues(func() (map[string][]string, error) {
	all, name := map[string][]string{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, found := range name.FindAllStringSubmatch(string(text), -1) {
			folder := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, root+"/")))
			all[found[1]] = append(all[found[1]], folder)
		}
		return err
	})
	return all, err
})

// folderOf is the folder of a test, wherever it stands. One name is one test.
func folderOf(t *testing.T, test string) string {
	t.Helper()
	all, err := declared()
	if err != nil || len(all[test]) != 1 {
		t.Fatalf("%s stands in %q: %v", test, all[test], err)
	}
	return all[test][0]
}

// An overlay is files that stand in place of others, by their paths.
type overlay map[string]string

// apply makes the edits of a variant. A text that was replaced already, or is gone, is an
// error: the variant would break nothing.
func (o overlay) apply(v variant) error {
	for _, e := range v.edits {
		text, changed := o[e.file]
		if !changed {
			read, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return err
			}
			text = string(read)
		}
		if n := strings.Count(text, e.before); n != 1 {
			return fmt.Errorf("variant %q: the text to be replaced occurs %d times in %s, not once:\n%s", v.name, n, e.file, e.before)
		}
		o[e.file] = strings.Replace(text, e.before, e.after, 1)
	}
	return nil
}

// write makes the file that the option -overlay of go names.
func (o overlay) write(t *testing.T) string {
	t.Helper()
	from, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	folder, replaced := t.TempDir(), map[string]string{}
	for file, text := range o {
		path := filepath.Join(folder, strings.ReplaceAll(file, "/", "_"))
		replaced[filepath.Join(from, file)] = path
		keep(t, path, []byte(text))
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "overlay.json")
	keep(t, path, list)
	return path
}

func keep(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// golang runs the go command in a folder of the repository.
func golang(t *testing.T, folder string, args ...string) ([]byte, error) {
	t.Helper()
	// Three sessions of the oracle, from a seed whose faults meet compensations too.
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Dir = filepath.Join(root, folder)
	c.Env = append(os.Environ(), "HOSTPANEL_ROBUSTNESS_OPS=3000", "HOSTPANEL_ROBUSTNESS_SEED=8", "ROUNDS=1", "SEED=1")
	return c.CombinedOutput()
}

// A text that a variant replaces occurs once, so that a refactoring cannot empty the
// variant. All variants together build.
func TestEveryVariantAppliesAndBuilds(t *testing.T) {
	t.Parallel()
	all, folders := overlay{}, []string{}
	for _, v := range variants {
		if err := all.apply(v); err != nil {
			t.Fatal(err)
		}
		for _, e := range v.edits {
			if folder := "./" + filepath.Dir(e.file); strings.HasSuffix(e.file, ".go") && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	if out, err := golang(t, ".", slices.Concat([]string{"build", "-overlay", all.write(t)}, folders)...); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// row is the line of a variant in docs/reliability.md.
func (v variant) row(t *testing.T) string {
	t.Helper()
	var nets []string
	for _, n := range v.nets {
		nets = append(nets, fmt.Sprintf("`%s` %s", folderOf(t, n), n))
	}
	return fmt.Sprintf("| %s | %s | %s |\n", v.name, v.why, strings.Join(nets, ", "))
}

// The table of variants in docs/reliability.md is that of this package.
func TestThePageNamesEveryVariant(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := "| what is broken | what it would cost | caught by |\n|---|---|---|\n"
	for _, v := range variants {
		table += v.row(t)
	}
	if !strings.Contains(string(page), "\n"+table+"\n") {
		t.Errorf("docs/reliability.md lacks this table:\n%s", table)
	}
}

// A verdict is what came of a test of a variant.
type verdict string

const (
	caught   verdict = "caught"
	survives verdict = "survives"
	broken   verdict = "does not build"
)

// hold runs a test against an overlay; an empty one leaves the engine as it is.
func hold(t *testing.T, test, overlay string) (verdict, string) {
	t.Helper()
	out, err := golang(t, folderOf(t, test),
		"test", "-tags", "system", "-json", "-count=1", "-timeout", "5m", "-overlay", overlay, "-run", "^"+test+"$", ".")
	return judge(out, test, err), told(out)
}

// An event is a line of go test -json.
type event struct{ Action, Test, Output string }

func events(out []byte) (all []event) {
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

func judge(out []byte, test string, failed error) verdict {
	switch all := events(out); {
	case slices.ContainsFunc(all, func(e event) bool { return e.Action == "fail" && e.Test == test }):
		return caught
	case failed == nil && slices.ContainsFunc(all, func(e event) bool { return e.Action == "pass" && e.Test == test }):
		return survives
	}
	return broken
}

// told is what a test has printed.
func told(out []byte) string {
	var b strings.Builder
	for _, e := range events(out) {
		b.WriteString(e.Output)
	}
	return b.String()
}

// quickest is the variant that is tried unless the environment names others.
const quickest = "two processes may read as one reader"

// Every net fails with the variants that it is for, and passes without them. `make
// variants` tries all.
func TestEveryVariantIsCaught(t *testing.T) {
	t.Parallel()
	only := cmp.Or(os.Getenv("HOSTPANEL_VARIANTS"), quickest)
	held := map[string]bool{}
	for _, v := range variants {
		if only != "all" && !strings.Contains(v.name, only) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			o := overlay{}
			if err := o.apply(v); err != nil {
				t.Fatal(err)
			}
			path := o.write(t)
			for _, n := range v.nets {
				began := clock.Now()
				verdict, out := hold(t, n, path)
				if t.Logf("%s: %s by %s, %.0f s", v.name, verdict, n, clock.Since(began).Seconds()); verdict != caught {
					t.Errorf("%s: %s\n%s", n, verdict, out)
				}
				held[n] = true
			}
		})
	}
	if len(held) == 0 {
		t.Errorf("no variant is named %q", only)
	}
	whole := overlay{}.write(t)
	for n := range held {
		if verdict, out := hold(t, n, whole); verdict != survives {
			t.Errorf("without a variant %s: %s\n%s", n, verdict, out)
		}
	}
}
