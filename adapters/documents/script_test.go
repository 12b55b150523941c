package documents

import (
	"testing"

	"golang.org/x/text/unicode/bidi"
	"pgregory.net/rapid"
)

func TestALineStandsOnPaperFromItsRightSide(t *testing.T) {
	for line, want := range map[string]string{
		"Ana Ruiz":           "Ana Ruiz",
		"abc אבג":            "abc גבא",
		"אבג abc":            "abc גבא",
		"אבג 123":            "123 גבא",
		"Calle אבג 12, 3":    "Calle 3 ,12 גבא",
		"Calle אבג 12 abc":   "Calle 12 גבא abc",
		"(אבג)":              "(גבא)",
		"אבג (SL) 5%":        "5% (SL) גבא",
		"אבג (דהו) SL":       "SL (והד) גבא",
		"SL (אבג) 5":         "SL (גבא) 5",
		"אבג abc (d) ה":      "ה abc (d) גבא",
		"\u05E9\u05B8\u05DC": "\u05DC\u05B8\u05E9", // a point is drawn over the letter that follows it on paper
		"":                   "",
	} {
		if got := visual(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestArabicLettersJoin(t *testing.T) {
	for plain, want := range map[string]string{
		"محمد": "\uFEE3\uFEA4\uFEE4\uFEAA", // initial, medial, medial, final
		"دار":  "\uFEA9\uFE8D\uFEAD",       // none joins the next one
		"لا":   "\uFEFB",                   // a ligature
		"بلا":  "\uFE91\uFEFC",
		"بَب":  "\uFE91\u064E\uFE90", // a mark between them
		"پگ":   "\uFB58\uFB93",
		"ء":    "\uFE80",
		"abc":  "abc",
	} {
		if got := joined(plain); got != want {
			t.Errorf("%s: %+q, want %+q", plain, got, want)
		}
	}
}

// Letters run to the side to which the algorithm of golang.org/x/text lets them run, in every text
// without brackets, of whose pairs it resolves the second one otherwise.
func TestLettersRunAsTheStandardAlgorithmSays(t *testing.T) {
	letters := []rune("aZ אבم1290٣٤ .,-+%$/:!\u05B8\u064E京")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom(letters), 1, 30).Draw(t, "text")
		var p bidi.Paragraph
		if _, err := p.SetString(string(text)); err != nil {
			t.Fatal(err)
		}
		order, err := p.Order()
		if err != nil {
			t.Fatal(err)
		}
		levels := levelsOf(text)
		for i := range order.NumRuns() {
			run := order.Run(i)
			first, last := run.Pos()
			for at := first; at <= last; at++ {
				if (levels[at]%2 == 1) != (run.Direction() == bidi.RightToLeft) {
					t.Fatalf("%q: letter %d has level %d (%v)", string(text), at, levels[at], levels)
				}
			}
		}
	})
}
