package ispconfig

import (
	"strings"
	"testing"
)

// What is stored of a text is served as the text, and each string of it fits.
func FuzzTextsAreServed(f *testing.F) {
	for _, seed := range []string{
		"v=spf1 -all", `x" ( "y`, `ends in \`, `\065`, "é😀\x00\xff", strings.Repeat(`\`, 255),
		strings.Repeat("a", 254) + `"` + strings.Repeat("é", 130),
		"{tmpl_var name='x'}", "%s %00 $(id)", "NUL\x00end", "cafe\u0301", "zero\u200Bwidth\u200D\uFEFF",
		"abc\u202Etxt.exe", "; @ ( $INCLUDE x", `\' \" \\ \0`, "line\u2028para\u0085\r\n",
		`O:8:"stdClass":1:{s:1:"a";s:1:"b";}`, strings.Repeat("😀", 400),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		stored := storedText(text)
		if served := servedText(stored); served != text {
			t.Errorf("%q is stored as %q and served as %q", text, stored, served)
		}
		for piece := range strings.SplitSeq(cut(stored), `" "`) {
			if len(piece) > cutAt {
				t.Errorf("%q: a string of %d bytes", text, len(piece))
			}
		}
	})
}
