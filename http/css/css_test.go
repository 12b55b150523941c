package css_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/http/css"
)

// What is served for a sheet.
func TestSheetsThatAreServed(t *testing.T) {
	tests := []struct{ name, sent, served string }{
		{"nothing", " /* nothing */ ", ""},
		{"a rule", "a { color : RED ; }", ".wl-scope a{color:RED}\n"},
		{"each selector is scoped", "a, b > c,\n d+e f~g", ""},
		{"the scope itself", ".wl-scope { margin: 0 } .wl-scope.dark > p, .wl-scope:hover a { color: red }", ".wl-scope{margin:0}\n.wl-scope.dark>p,.wl-scope:hover a{color:red}\n"},
		{"the root is the scope", ":root, :root > a { --wl-x: 1px }", ".wl-scope,.wl-scope>a{--wl-x:1px}\n"},
		{"body is below the scope", "body { margin: 0 }", ".wl-scope body{margin:0}\n"},
		{"what only looks like the scope", ".wl-scoped a, .wl-scope-x { top: 0 }", ".wl-scope .wl-scoped a,.wl-scope .wl-scope-x{top:0}\n"},
		{"siblings of the scope are outside", ".wl-scope + a, .wl-scope ~ a, :root ~ a { top: 0 }", ".wl-scope .wl-scope+a,.wl-scope .wl-scope~a,.wl-scope :root~a{top:0}\n"},
		{"states", "a:HOVER::Before, li:nth-child( 2N + 1 ):not(.a, #b > i), *:is(a , b) { top: 0 }", ".wl-scope a:hover::before,.wl-scope li:nth-child(2n+1):not(.a,#b>i),.wl-scope *:is(a,b){top:0}\n"},
		{"attributes", `[type], [type = "text" i], [lang|=es], [class~=a] { top: 0 }`, `.wl-scope [type],.wl-scope [type="text" i],.wl-scope [lang|=es],.wl-scope [class~=a]{top:0}` + "\n"},
		{"values", "a{font:12px/1.5 'A b',serif;margin:-1px auto  0;width:calc(1px + var( --wl-x , 2px ));color:#FfF!important}", ".wl-scope a{font:12px/1.5 'A b',serif;margin:-1px auto 0;width:calc(1px + var( --wl-x , 2px ));color:#FfF!important}\n"},
		{"gradients and transforms", "a{background:linear-gradient(90deg,rgba(0,0,0,.5),hsl(1 2% 3%/4%));transform:translateX(1px) rotate(2deg);transition:all 1s cubic-bezier(0,0,1,1)}", ".wl-scope a{background:linear-gradient(90deg,rgba(0,0,0,.5),hsl(1 2% 3%/4%));transform:translateX(1px) rotate(2deg);transition:all 1s cubic-bezier(0,0,1,1)}\n"},
		{"a plain string", `a::after { content: "»" } b::before{content:''}`, `.wl-scope a::after{content:"»"}` + "\n.wl-scope b::before{content:''}\n"},
		{"places", "a{position:sticky;inset:0;grid-template-columns:[full] 1fr [end]}", ".wl-scope a{position:sticky;inset:0;grid-template-columns:[full] 1fr [end]}\n"},
		{"screens", "@MEDIA screen and (min-width: 600px), (400px >= width) { a { top: 0 } @media print{b{top:0}} }", "@media screen and (min-width: 600px), (400px >= width){\n.wl-scope a{top:0}\n@media print{\n.wl-scope b{top:0}\n}\n}\n"},
		{"abilities", "@supports (display:grid) and (not (gap : 1px)){a{top:0}}", "@supports (display:grid) and (not (gap:1px)){\n.wl-scope a{top:0}\n}\n"},
		{"animations", "@keyframes spin { FROM, 50.5% { opacity: 0 } to { opacity: 1 } } a { animation: spin 1s }", "@keyframes spin{\nFROM,50.5%{opacity:0}\nto{opacity:1}\n}\n.wl-scope a{animation:spin 1s}\n"},
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
	tests := []struct {
		sent     string
		problems []string
	}{
		{"a{color:red}\nb{\nbackground:url(https://x.test/a.png)}", []string{"Line 3: url() is not allowed."}},
		{`a{background:URL( "x" )}`, []string{"Line 1: url() is not allowed."}},
		{"a{background:url(a b)}", []string{"Line 1: url() is not allowed."}},
		{"a{cursor:src('x')}", []string{"Line 1: src() is not allowed."}},
		{"a{background:image-set('x' 1x)}", []string{"Line 1: image-set() is not allowed."}},
		{"a{width:attr(data-x px)}", []string{"Line 1: attr() is not allowed."}},
		{"a{background:element(#x)}", []string{"Line 1: element() is not allowed."}},
		{"a{background:paint(x)}", []string{"Line 1: paint() is not allowed."}},
		{"a{width:expression(alert(1))}", []string{"Line 1: expression() is not allowed.", "Line 1: alert() is not allowed."}},
		{"a{background:url/**/(x)}", nil}, // a word, a blank and brackets: harmless, but only with the blank
		{"a{--wl-x:u/**/rl(x)}", []string{"Line 1: rl() is not allowed."}},
		{`a{color:\75rl(x)}`, []string{"Line 1: Backslashes are not allowed.", `Line 1: \75rl() is not allowed.`}},
		{"@import 'x';", []string{"Line 1: @import is not allowed."}},
		{"@IMPORT url(x);a{top:0}", []string{"Line 1: @IMPORT is not allowed."}},
		{"@font-face{src:url(x)}", []string{"Line 1: @font-face is not allowed."}},
		{"@charset \"x\";", []string{"Line 1: @charset is not allowed."}},
		{"@namespace x;", []string{"Line 1: @namespace is not allowed."}},
		{"@layer a{b{top:0}}", []string{"Line 1: @layer is not allowed."}},
		{"@page{margin:0}", []string{"Line 1: @page is not allowed."}},
		{"@property --wl-x{syntax:'*'}", []string{"Line 1: @property is not allowed."}},
		{"@container (width>1px){a{top:0}}", []string{"Line 1: @container is not allowed."}},
		{"a{@media print{top:0}}", []string{"Line 1: A rule inside of a rule is not allowed."}},
		{"a{position:fixed}", []string{"Line 1: position: fixed is not allowed."}},
		{"a{position:/**/FIXED !important}", []string{"Line 1: position: fixed is not allowed."}},
		{"a{position:var(--wl-p)}", []string{"Line 1: position may only be one of static, relative, absolute, sticky, inherit, initial, unset, revert."}},
		{"@supports (position:fixed){a{top:0}}", []string{"Line 1: position: fixed is not allowed."}},
		{"a{content:attr(title)}", []string{"Line 1: content may only be a plain string.", "Line 1: attr() is not allowed."}},
		{"a{content:counter(x)}", []string{"Line 1: content may only be a plain string.", "Line 1: counter() is not allowed."}},
		{"a{content:'a' 'b'}", []string{"Line 1: content may only be a plain string."}},
		{"a{content:var(--wl-x)}", []string{"Line 1: content may only be a plain string."}},
		{"a{content:open-quote}", []string{"Line 1: content may only be a plain string."}},
		{"a{content:'url( x )'}", []string{"Line 1: url() is not allowed."}},
		{"a{behavior:x}", []string{"Line 1: The property behavior is not allowed."}},
		{"a{-moz-binding:x}", []string{"Line 1: The property -moz-binding is not allowed."}},
		{"a{list-style-image:none}", []string{"Line 1: The property list-style-image is not allowed."}},
		{"a{filter:none}", []string{"Line 1: The property filter is not allowed."}},
		{"[value^=a]{top:0}", []string{"Line 1: Attribute selectors on value are not allowed."}},
		{"a[HREF]{top:0}", []string{"Line 1: Attribute selectors on href are not allowed."}},
		{":not([src$=x]){top:0}", []string{"Line 1: Attribute selectors on src are not allowed."}},
		{"meta[content]{top:0}", []string{"Line 1: Attribute selectors on content are not allowed."}},
		{"[*|value=a]{top:0}", []string{"Line 1: [*|value=a] is not allowed."}},
		{"[type=a b]{top:0}", []string{"Line 1: [type=a b] is not allowed."}},
		{"a:visited{top:0}", []string{"Line 1: :visited is not allowed."}},
		{":is(a,a:VISITED){top:0}", []string{"Line 1: :visited is not allowed."}},
		{"a:has(b){top:0}", []string{"Line 1: :has() is not allowed."}},
		{"a::part(x){top:0}", []string{"Line 1: ::part() is not allowed."}},
		{":host{top:0}", []string{"Line 1: :host is not allowed."}},
		{"a{color:'<b>'}", []string{`Line 1: "<" is not allowed.`}},
		{"/* </style> */", []string{`Line 1: "<" is not allowed.`}},
		{"a{color:red}\x00", []string{"Line 1: Control characters are not allowed.", `Line 1: A rule has no block in braces.`}},
		{"a{\f}", []string{"Line 1: Control characters are not allowed."}},
		{"/*\u0085*/", []string{"Line 1: Control characters are not allowed."}},
		{"/*\xff*/", []string{"Line 1: The text is not valid UTF-8."}},
		{"a{--x:1}", []string{"Line 1: --x is not allowed: custom properties are named --wl-…."}},
		{"a{--WL-x:1}", []string{"Line 1: --WL-x is not allowed: custom properties are named --wl-…."}},
		{"a{color:var(--accent)}", []string{"Line 1: --accent is not allowed: custom properties are named --wl-…."}},
		{"a{color:--wl-x}", []string{`Line 1: "--wl-x" is not allowed here.`}},
		{"a{color:red", []string{"Line 1: A block is not closed."}},
		{"a{color:rgb(1}", []string{"Line 1: A bracket is not closed."}},
		{"a{color:1)}", []string{`Line 1: ")" is not allowed here.`}},
		{"a{color:'x}", []string{"Line 1: A string is not closed.", "Line 1: A block is not closed."}},
		{"a{content:'x\n'}", []string{"Line 1: content may only be a plain string.", "Line 1: A string is not closed.", "Line 2: A string is not closed.", "Line 1: A block is not closed."}},
		{"a{top:0}\n/* x", []string{"Line 2: A comment is not closed."}},
		{"/*/", []string{"Line 1: A comment is not closed."}},
		{"a{color}", []string{`Line 1: "color" is not a property with a value.`}},
		{"a{color:}", []string{"Line 1: color has no value."}},
		{"a{color:!important}", []string{"Line 1: color has no value."}},
		{"a{color:red!x}", []string{`Line 1: "!" is not allowed here.`}},
		{"a{*zoom:1}", []string{`Line 1: "*zoom:1" is not a property with a value.`}},
		{"a{b{top:0}}", []string{"Line 1: A rule inside of a rule is not allowed."}},
		{"a{&:hover{top:0}top:0}", []string{"Line 1: A rule inside of a rule is not allowed."}},
		{"a{--wl-x:{a;b}}", []string{"Line 1: A rule inside of a rule is not allowed."}},
		{"a;", []string{"Line 1: A rule has no block in braces."}},
		{"}", []string{`Line 1: A "}" closes nothing.`}},
		{"{top:0}", []string{"Line 1: A selector is not complete."}},
		{"a,{top:0}", []string{"Line 1: A selector is not complete."}},
		{"a>{top:0}", []string{"Line 1: A selector is not complete."}},
		{"> a{top:0}", []string{`Line 1: ">" is not allowed here.`}},
		{"a > > b{top:0}", []string{`Line 1: ">" is not allowed here.`}},
		{"a || b{top:0}", []string{`Line 1: "||" is not allowed here.`}},
		{"svg|a{top:0}", []string{`Line 1: "|" is not allowed here.`}},
		{"&a{top:0}", []string{`Line 1: "&" is not allowed here.`}},
		{"<!-- a{top:0} -->", []string{`Line 1: "<" is not allowed.`, `Line 1: "<!--" is not allowed here.`, "Line 1: A rule has no block in braces."}},
		{"a:{top:0}", []string{`Line 1: ":" is not allowed here.`}},
		{"a:not(){top:0}", []string{"Line 1: A selector is not complete."}},
		{"a:nth-child(x){top:0}", []string{`Line 1: "x" counts no children.`}},
		{"a:nth-child(2 of b){top:0}", []string{`Line 1: "2ofb" counts no children.`}},
		{"@keyframes 'x'{}", []string{"Line 1: @keyframes needs a name."}},
		{"@keyframes x{a{top:0}}", []string{"Line 1: A keyframe is from, to or a percentage."}},
		{"@supports selector(a){}", []string{"Line 1: selector() is not allowed."}},
		{"@supports {}", []string{"Line 1: @supports needs a condition."}},
		{"@supports (behavior:x){}", []string{"Line 1: The property behavior is not allowed."}},
		{"@media (x:url(y)){}", []string{"Line 1: url() is not allowed."}},
		{"@media print{a{top:0}", []string{"Line 1: A block is not closed."}},
		{"@media print;", []string{"Line 1: A rule has no block in braces."}},
		{"a{" + strings.Repeat("x", 60) + ":1}", []string{"Line 1: The property " + strings.Repeat("x", 40) + "… is not allowed."}},
		{strings.Repeat("(", 40), []string{"Line 1: Brackets are nested too deeply."}},
		{strings.Repeat("@media print{", 40), []string{"Line 1: Brackets are nested too deeply."}},
	}
	for _, tt := range tests {
		served, problems := css.Scoped(tt.sent)
		if served != "" && len(tt.problems) > 0 || !slices.Equal(sorted(problems), sorted(tt.problems)) {
			t.Errorf("%q is answered with\n%q, served %q, want\n%q", tt.sent, problems, served, tt.problems)
		}
	}
}

func sorted(s []string) []string { s = slices.Clone(s); slices.Sort(s); return s }

// A customer reads at once all that is wrong, from the top of the sheet.
func TestEveryProblemIsSaidWithItsLine(t *testing.T) {
	_, problems := css.Scoped("@import 'x';\r\na { color: red }\r\nb { zoom: 1; position: fixed;\r\n  background: url(x); background: url(y) }\r\nc:visited { color: \\red }")
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

func TestSheetsHaveASize(t *testing.T) {
	rules := strings.Repeat("a{}\n", css.MaxRules)
	tests := []struct {
		name, sent string
		problems   []string
	}{
		{"as many rules as allowed", rules, nil},
		{"one rule more", rules + "b{}", []string{"Line 5001: There are more than 5000 rules."}},
		{"two rules more", rules + "b{}c{}", []string{"Line 5001: There are more than 5000 rules."}},
		{"rules within rules count", strings.Repeat("a{}", css.MaxRules-1) + "@media print{b{}}", []string{"Line 1: There are more than 5000 rules."}},
		{"as large as allowed", strings.Repeat(" ", css.MaxBytes), nil},
		{"one byte more", strings.Repeat(" ", css.MaxBytes+1), []string{"The style sheet is larger than 100 KiB."}},
	}
	for _, tt := range tests {
		if _, problems := css.Scoped(tt.sent); !slices.Equal(problems, tt.problems) {
			t.Errorf("%s: %q, want %q", tt.name, problems, tt.problems)
		}
	}
}
