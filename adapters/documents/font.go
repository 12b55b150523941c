package documents

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// The fonts beside those of Go, cut to the letters that they are for (fonts/README.md).
var (
	//go:embed fonts/NotoSans-Regular.ttf
	latin []byte
	//go:embed fonts/NotoSans-Bold.ttf
	latinBold []byte
	//go:embed fonts/NotoSansHebrew-Regular.ttf
	hebrew []byte
	//go:embed fonts/NotoSansArabic-Regular.ttf
	arabic []byte
	//go:embed fonts/NotoSansThai-Regular.ttf
	thai []byte
	//go:embed fonts/DroidSansFallback.ttf.gz
	eastAsian []byte
)

// A face is a font in one or two weights. It is read when a text needs it.
type face struct {
	family        string
	first, last   rune // of its letters
	regular, bold func() []byte
	font          func() *sfnt.Font
}

// faces are the fonts, in the order in which they are asked for a letter.
var faces = []*face{
	faceOf("go", 0, unicode.MaxRune, goregular.TTF, gobold.TTF),
	faceOf("latin", 0, 0x20CF, latin, latinBold),
	faceOf("hebrew", 0x0590, 0x05FF, hebrew, nil),
	faceOf("arabic", 0x0600, 0xFEFF, arabic, nil),
	faceOf("thai", 0x0E00, 0x0E7F, thai, nil),
	{
		family: "east", first: 0x3000, last: 0xFFEF, regular: unpacked, bold: unpacked,
		font: sync.OnceValue(func() *sfnt.Font { return parsed(unpacked()) }),
	},
}

func faceOf(family string, first, last rune, regular, bold []byte) *face {
	if bold == nil {
		bold = regular
	}
	return &face{
		family, first, last, func() []byte { return regular }, func() []byte { return bold },
		sync.OnceValue(func() *sfnt.Font { return parsed(regular) }),
	}
}

// unpacked is the largest font.
var unpacked = sync.OnceValue(func() []byte {
	r, err := gzip.NewReader(bytes.NewReader(eastAsian))
	if err != nil {
		panic("documents: unpack a font: " + err.Error()) // it is compiled in
	}
	ttf, err := io.ReadAll(r)
	if err != nil {
		panic("documents: unpack a font: " + err.Error())
	}
	return ttf
})

func parsed(ttf []byte) *sfnt.Font {
	f, err := sfnt.Parse(ttf)
	if err != nil {
		panic("documents: read a font: " + err.Error()) // it is compiled in
	}
	return f
}

func (f *face) has(r rune) bool {
	if r < f.first || r > f.last {
		return false
	}
	at, err := f.font().GlyphIndex(nil, r)
	return err == nil && at != 0
}

func (f *face) hasAll(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !f.has(r) })
}

// faceOfRune is the first font that has a letter; nil: none has it.
func faceOfRune(r rune) *face {
	for _, f := range faces {
		if f.has(r) {
			return f
		}
	}
	return nil
}

// printable is a text with what the fonts have. Letters with accents become one character
// where there is one, and Arabic letters have the forms in which they join.
func printable(text string) string { return strings.Map(inFonts, joined(norm.NFC.String(text))) }

// inFonts is a character as the PDF shows it: itself, or "□" where the fonts lack it.
func inFonts(r rune) rune {
	if r == '\n' || faceOfRune(r) != nil {
		return r
	}
	return '□'
}

// A piece is a part of a line in one font.
type piece struct {
	*face
	text string
}

// pieces divides a line by fonts. A line has one font if one has all of its letters, and else a
// word has.
func pieces(line string) (all []piece) {
	add := func(f *face, text string) {
		if last := len(all) - 1; last >= 0 && all[last].face == f {
			all[last].text += text
			return
		}
		all = append(all, piece{f, text})
	}
	of := faceOfWord(strings.ReplaceAll(line, " ", ""))
	for word := range strings.SplitAfterSeq(line, " ") {
		whole := of
		if whole == nil {
			whole = faceOfWord(strings.TrimSuffix(word, " "))
		}
		for _, r := range word {
			switch f := whole; {
			case f != nil && f.has(r):
				add(f, string(r))
			case r == ' ' || faceOfRune(r) == nil:
				add(faces[0], string(r))
			default:
				add(faceOfRune(r), string(r))
			}
		}
	}
	return all
}

func faceOfWord(word string) *face {
	for _, f := range faces {
		if f.hasAll(word) {
			return f
		}
	}
	return nil
}
