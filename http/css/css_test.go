package css_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/http/css"
	"hostpanel/http/css/csstest"
)

// What is served for a sheet.
func TestSheetsThatAreServed(t *testing.T) {
	tests := []struct{ name, sent, served string }{
		{"nothing", " /* nothing */ ", ""},
		{"a rule", "a { color : RED ; }", ".wl-scope a{color:RED}\n"},
		{"each selector is scoped", "a, b > c,\n d+e f~g", ""},
		{
			"the scope itself", ".wl-scope { margin: 0 } .wl-scope.dark > p, .wl-scope:hover a { color: red }",
			".wl-scope{margin:0}\n.wl-scope.dark>p,.wl-scope:hover a{color:red}\n",
		},
		{"the root is the scope", ":root, :root > a { --wl-x: 1px }", ".wl-scope,.wl-scope>a{--wl-x:1px}\n"},
		{"body is below the scope", "body { margin: 0 }", ".wl-scope body{margin:0}\n"},
		{"what only looks like the scope", ".wl-scoped a, .wl-scope-x { top: 0 }", ".wl-scope .wl-scoped a,.wl-scope .wl-scope-x{top:0}\n"},
		{
			"siblings of the scope are outside", ".wl-scope + a, .wl-scope ~ a, :root ~ a { top: 0 }",
			".wl-scope .wl-scope+a,.wl-scope .wl-scope~a,.wl-scope :root~a{top:0}\n",
		},
		{
			"states", "a:HOVER::Before, li:nth-child( 2N + 1 ):not(.a, #b > i), *:is(a , b) { top: 0 }",
			".wl-scope a:hover::before,.wl-scope li:nth-child(2n+1):not(.a,#b>i),.wl-scope *:is(a,b){top:0}\n",
		},
		{
			"attributes", `[type], [type = "text" i], [lang|=es], [class~=a] { top: 0 }`,
			`.wl-scope [type],.wl-scope [type="text" i],.wl-scope [lang|=es],.wl-scope [class~=a]{top:0}` + "\n",
		},
		{
			"values",
			"a{font:12px/1.5 'A b',serif;margin:-1px auto  0;width:calc(1px + var( --wl-x , 2px ));color:#FfF!important}",
			".wl-scope a{font:12px/1.5 'A b',serif;margin:-1px auto 0;width:calc(1px + var( --wl-x , 2px ));color:#FfF!important}\n",
		},
		{
			"gradients and transforms",
			"a{background:linear-gradient(90deg,rgba(0,0,0,.5),hsl(1 2% 3%/4%));transform:translateX(1px) " +
				"rotate(2deg);transition:all 1s cubic-bezier(0,0,1,1)}",
			".wl-scope a{background:linear-gradient(90deg,rgba(0,0,0,.5),hsl(1 2% 3%/4%));transform:translateX(1px) " +
				"rotate(2deg);transition:all 1s cubic-bezier(0,0,1,1)}\n",
		},
		{
			"a plain string", `a::after { content: "»" } b::before{content:''}`,
			`.wl-scope a::after{content:"»"}` + "\n.wl-scope b::before{content:''}\n",
		},
		{
			"places", "a{position:sticky;inset:0;grid-template-columns:[full] 1fr [end]}",
			".wl-scope a{position:sticky;inset:0;grid-template-columns:[full] 1fr [end]}\n",
		},
		{
			"screens",
			"@MEDIA screen and (min-width: 600px), (400px >= width) { a { top: 0 } @media print{b{top:0}} }",
			"@media screen and (min-width: 600px), (400px >= width){\n.wl-scope a{top:0}\n@media print{\n.wl-scope b{top:0}\n}\n}\n",
		},
		{
			"abilities", "@supports (display:grid) and (not (gap : 1px)){a{top:0}}",
			"@supports (display:grid) and (not (gap:1px)){\n.wl-scope a{top:0}\n}\n",
		},
		{
			"animations", "@keyframes spin { FROM, 50.5% { opacity: 0 } to { opacity: 1 } } a { animation: spin 1s }",
			"@keyframes spin{\nFROM,50.5%{opacity:0}\nto{opacity:1}\n}\n.wl-scope a{animation:spin 1s}\n",
		},
		{"a comment is a blank in a value", "a{margin:1px/**/2px}", ".wl-scope a{margin:1px 2px}\n"},
		{"and nothing in a selector", "a/**/.b{top:0}", ".wl-scope a.b{top:0}\n"},
		{"words of other scripts", "p.größe{font-family:größe}", ".wl-scope p.größe{font-family:größe}\n"},
		{"lines of Windows", "a{\r\ntop:0\r\n}\r\n", ".wl-scope a{top:0}\n"},
	}
	tests[2].sent += "{top:0}"
	tests[2].served = ".wl-scope a,.wl-scope b>c,.wl-scope d+e f~g{top:0}\n"
	for _, tt := range tests {
		served, problems := css.Scoped(tt.sent)
		if served != tt.served || len(problems) > 0 {
			t.Errorf("%s: %s\nis served as\n%s\nwant\n%s\n%v", tt.name, tt.sent, served, tt.served, problems)
		}
		if again, _ := css.Scoped(served); again != served {
			t.Errorf("%s: %s\nis served again as\n%s", tt.name, served, again)
		}
	}
}

// Everything that is forbidden, with what the customer reads.
func TestSheetsThatAreRefused(t *testing.T) {
	for _, tt := range csstest.Refused {
		served, problems := css.Scoped(tt.Sent)
		if served != "" && len(tt.Problems) > 0 || !slices.Equal(sorted(problems), sorted(tt.Problems)) {
			t.Errorf("%q is answered with\n%q, served %q, want\n%q", tt.Sent, problems, served, tt.Problems)
		}
	}
}

func sorted(s []string) []string { s = slices.Clone(s); slices.Sort(s); return s }

// A customer reads at once all that is wrong, from the top of the sheet.
func TestEveryProblemIsSaidWithItsLine(t *testing.T) {
	_, problems := css.Scoped(
		"@import 'x';\r\na { color: red }\r\nb { zoom: 1; position: fixed;\r\n  background: url(x); background: " +
			"url(y) }\r\nc:visited { color: \\red }",
	)
	want := []string{
		"Line 1: @import is not allowed.",
		"Line 3: The property zoom is not allowed.",
		"Line 3: position: fixed is not allowed.",
		"Line 4: url() is not allowed.",
		"Line 5: Backslashes are not allowed.",
		"Line 5: :visited is not allowed.",
	}
	if !slices.Equal(problems, want) {
		t.Errorf("the problems are\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
}

func TestBracketsAreNestedThirtyTwoDeep(t *testing.T) {
	sheet := func(depth int) string {
		return "a { width: calc" + strings.Repeat("(", depth-1) + "1px" + strings.Repeat(")", depth-1) + " }"
	}
	if _, problems := css.Scoped(sheet(32)); len(problems) > 0 {
		t.Errorf("32: %q", problems)
	}
	if _, problems := css.Scoped(sheet(33)); !slices.Contains(problems, "Line 1: Brackets are nested too deeply.") {
		t.Errorf("33: %q", problems)
	}
}

func TestSheetsHaveASize(t *testing.T) {
	rules := strings.Repeat("a{}\n", css.MaxRules)
	tests := []struct {
		name, sent string
		problems   []string
	}{
		{"as many rules as allowed", rules, nil},
		{"one rule more", rules + "b{}", []string{"Line 5001: There are more than 5000 rules."}},
		{"two rules more", rules + "b{}c{}", []string{"Line 5001: There are more than 5000 rules."}},
		{
			"rules within rules count", strings.Repeat("a{}", css.MaxRules-1) + "@media print{b{}}",
			[]string{"Line 1: There are more than 5000 rules."},
		},
		{"as many selectors as allowed", strings.Repeat("a,", css.MaxSelectors-1) + "a{}", nil},
		{
			"one selector more", "b{}\n" + strings.Repeat("a,", css.MaxSelectors-1) + "a{}",
			[]string{"Line 2: There are more than 10000 selectors."},
		},
		{
			"selectors within selectors count", ":is(" + strings.Repeat("a,", css.MaxSelectors-1) + "a){}",
			[]string{"Line 1: There are more than 10000 selectors."},
		},
		{"as large as allowed", strings.Repeat(" ", css.MaxBytes), nil},
		{"one byte more", strings.Repeat(" ", css.MaxBytes+1), []string{"The style sheet is larger than 100 KiB."}},
	}
	for _, tt := range tests {
		if _, problems := css.Scoped(tt.sent); !slices.Equal(problems, tt.problems) {
			t.Errorf("%s: %q, want %q", tt.name, problems, tt.problems)
		}
	}
}

// Any sheet is read in a time that its size bounds, whatever stands in it.
func TestTheWorkForASheetGrowsWithItsSizeAlone(t *testing.T) {
	const half = css.MaxBytes / 2
	fill := func(piece string, size int) string { return strings.Repeat(piece, size/len(piece)) }
	nested := func(open, inner, end string) string {
		return strings.Repeat(open, 30) + inner + strings.Repeat(end, 30)
	}
	for name, of := range map[string]func(size int) string{
		"rules":              func(size int) string { return fill("a{top:0}", size) },
		"selectors":          func(size int) string { return fill("a ", size) + "{}" },
		"a list in brackets": func(size int) string { return nested(":is(", fill("a ", size)+"b", ")") + "{}" },
		"brackets in a list": func(size int) string { return fill(nested(":not(", "a", ")")+" ", size) + "{}" },
		"a condition in brackets": func(size int) string {
			return "@supports " + nested("(", fill("(top:0)and ", size)+"(top:0)", ")") + "{}"
		},
		"brackets in a condition": func(size int) string {
			return "@supports " + fill(nested("(", "top:0", ")")+" and ", size) + "(top:0){}"
		},
		"a value in brackets":        func(size int) string { return "a{top:" + nested("calc(", fill("1 ", size), ")") + "}" },
		"blocks that are not closed": func(size int) string { return fill("@media a{", size) },
	} {
		small, large := css.Steps(of(half/8)), css.Steps(of(half))
		if large > css.MaxSteps+css.MaxBytes || large > 9*small {
			t.Errorf("%s: %d steps for an eighth, %d for the whole", name, small, large)
		}
	}
	_, problems := css.Scoped(nested(":is(", fill("a ", half)+"b", ")") + "{}")
	if want := []string{"Line 1: There are too many brackets within brackets."}; !slices.Equal(problems, want) {
		t.Errorf("%q, want %q", problems, want)
	}
}

func TestAHundredProblemsAreSaid(t *testing.T) {
	_, problems := css.Scoped(strings.Repeat("}\n", 300))
	if len(problems) != 101 || problems[99] != `Line 100: A "}" closes nothing.` ||
		problems[100] != "The style sheet has more problems, further down." {
		t.Errorf("%d problems, the last are %q", len(problems), problems[max(0, len(problems)-2):])
	}
}
