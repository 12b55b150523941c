package documents

import (
	"strings"

	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// letters are those of the regular font; the bold one has the same.
var letters = parsed(goregular.TTF)

func parsed(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("documents: read the font: " + err.Error()) // it is compiled in
	}
	return f
}

// printable is a text with what the fonts have. Letters with accents become one character
// where there is one.
func printable(text string) string { return strings.Map(inFont, norm.NFC.String(text)) }

// inFont is a character as the PDF shows it: itself, or "□" where the fonts lack it.
func inFont(r rune) rune {
	if r == '\n' {
		return r
	}
	if at, err := letters.GlyphIndex(nil, r); err != nil || at == 0 {
		return '□'
	}
	return r
}
