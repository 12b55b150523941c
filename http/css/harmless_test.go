package css_test

import (
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tdewolff/parse/v2"
	reader "github.com/tdewolff/parse/v2/css"
	"pgregory.net/rapid"

	"hostpanel/http/css"
)

// pieces make up sheets, of good will and of bad.
var pieces = []string{
	"a", ".b", "#c", "*", ":root", ".wl-scope", "body", ":hover", "::before", ":not(", ":is(", ":nth-child(2n+1)",
	"[type=text]", "[value^=a]", ":visited", ":has(", "&", "|",
	">", "+", "~", ",", " ", "\n", "/**/", "/*", "*/", "{", "}", "(", ")", "[", "]", ";", ":", "!important", "'", `"`, `"x"`, "'y'",
	"{color:red}", "{top:0;left:1px}", "color:", "position:", "content:", "background:", "--wl-x:", "--y:", "behavior:",
	"fixed", "absolute", "red", "1px", "50%", "+1", "-", "1e3", "u+a",
	"url", "url(", "ur", "l(", "src(", "attr(", "calc(", "var(", "--wl-x", "--wl-x(", "linear-gradient(", "expression(", "image-set(",
	"@media ", "@media print{", "@supports ", "@supports (top:0){", "@keyframes x{", "from{", "@import ", "@font-face{",
	"@layer ", "not ", "and ", "(top:0)", "(min-width:1px)",
	"\\", "\\75", "<", "<!--", "-->", "</style>", "\x00", "\f", "\r\n", "\r", "ñ", "\u2028", "\u0085", "\xff", "javascript:",
}

func TestWhateverIsServedIsHarmless(t *testing.T) {
	for _, vocabulary := range [][]string{pieces, decent()} {
		rapid.Check(t, func(t *rapid.T) {
			harmless(t, strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 40).Draw(t, "pieces"), ""))
		})
	}
}

// decent are pieces, and whole rules of them, that often are served.
func decent() []string {
	whole := []string{
		"a{", "}", "@media print{", "@supports (top:0){", "@keyframes x{", "from{", "color:red;",
		"background:linear-gradient(red,var(--wl-x));", ".wl-scope+a{", ":root{", "content:'x';",
		"width:calc(1px + 2px)/**/;", "url/**/(x);",
	}
	for _, p := range pieces {
		if _, problems := css.Scoped(p + "{top:0}"); problems == nil {
			whole = append(whole, p+"{top:0}", p+" ")
		}
		if _, problems := css.Scoped("a{margin:" + p + "}"); problems == nil {
			whole = append(whole, "margin:"+p+";")
		}
	}
	return whole
}

// FuzzScoped sends anything as a style sheet.
func FuzzScoped(f *testing.F) {
	for _, sheet := range []string{
		"a{color:red}", "@media (min-width:1px){a:hover{top:0}}", "@keyframes x{from{top:0}50%{top:1px}}",
		"@supports not (display:grid){:root{--wl-x:1px}}",
		"a{background:url(x)}", "a{background:url/**/(x)}", "a{color:\\75rl(x)}", ".wl-scope~a{top:0}",
		"a:not([type='x' i])>b{content:'\"'}", "@import 'x';", "a{color:var(--wl-x,var(--wl-y))!important}",
		"/*", "'", "a{", "a{content:'", "[", "u+a{top:0}", "a{top:+1e3px-1}", "a{margin:1px/**/-1px}", "a{--wl-x:{}}", "@media{a{}}",
	} {
		f.Add(sheet)
	}
	for _, p := range pieces {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, sheet string) { harmless(t, sheet) })
}

type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

var (
	fetching = regexp.MustCompile(`(?i)(url|src|image-set|attr|element|paint|expression)\(`)
	outside  = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\\<]`)
)

// harmless is what must hold of every sheet: it is refused with reasons, or what
// is served is allowed in every part, as the library's own parser reads it,
// which the panel does not use, and is served as it is when it is sent again.
func harmless(t reporter, sheet string) {
	t.Helper()
	served, problems := css.Scoped(sheet)
	if len(problems) > 0 {
		for _, p := range problems {
			if served != "" || !strings.HasPrefix(p, "Line ") && !strings.HasPrefix(p, "The style sheet") {
				t.Fatalf("%q is refused with %q and served as %q", sheet, p, served)
			}
		}
		return
	}
	if bad := fetching.FindString(served) + outside.FindString(served); bad != "" {
		t.Fatalf("%q is served with %q in it:\n%s", sheet, bad, served)
	}
	if again, problems := css.Scoped(served); again != served {
		t.Fatalf("%q is served as\n%q\nand then as\n%q\n%q", sheet, served, again, problems)
	}
	readAnew(t, sheet, served)
}

func readAnew(t reporter, sheet, served string) {
	t.Helper()
	var around []string
	p := reader.NewParser(parse.NewInputString(served), false)
	for {
		kind, _, data := p.Next()
		switch kind {
		case reader.ErrorGrammar:
			if !errors.Is(p.Err(), io.EOF) {
				t.Fatalf("%q is served as\n%s\nwhich cannot be read: %v", sheet, served, p.Err())
			}
			return
		case reader.BeginAtRuleGrammar:
			around = append(around, string(data))
			if !slices.Contains([]string{"@media", "@supports", "@keyframes"}, string(data)) {
				t.Fatalf("%q is served with %s", sheet, data)
			}
		case reader.EndAtRuleGrammar:
			around = around[:len(around)-1]
		case reader.QualifiedRuleGrammar, reader.BeginRulesetGrammar:
			scoped := len(p.Values()) > 1 && string(p.Values()[0].Data)+string(p.Values()[1].Data) == css.Scope
			if !scoped && !slices.Contains(around, "@keyframes") || scoped && beside(p.Values()) {
				t.Fatalf("%q is served with a selector out of scope:\n%s", sheet, served)
			}
		case reader.DeclarationGrammar:
			if name := string(data); slices.Contains([]string{"behavior", "-moz-binding", "src"}, name) ||
				name == "position" && strings.Contains(
					strings.ToLower(spelt(p.Values())), "fixed",
				) {
				t.Fatalf("%q is served with %s:%s", sheet, name, spelt(p.Values()))
			}
		case reader.CustomPropertyGrammar:
			if !strings.HasPrefix(string(data), "--wl-") {
				t.Fatalf("%q is served with %s", sheet, data)
			}
		default:
			if kind != reader.EndRulesetGrammar {
				t.Fatalf("%q is served with a %s %q:\n%s", sheet, kind, data, served)
			}
		}
	}
}

// beside tells whether a selector goes from the scope to its siblings.
func beside(selector []reader.Token) bool {
	for _, t := range selector[2:] {
		switch string(t.Data) {
		case "+", "~":
			return true
		case " ", ">":
			return false
		}
	}
	return false
}

func spelt(tokens []reader.Token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.Write(t.Data)
	}
	return b.String()
}
