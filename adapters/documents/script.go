package documents

import (
	"maps"
	"slices"
	"unicode"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// Arabic letters have up to four forms. Unicode has them as presentation forms, in the order
// isolated, final, initial, medial; a letter that joins the one before it alone has two.
var (
	arabicForms     = map[rune][]rune{}
	arabicLigatures = map[[2]rune][]rune{} // of lam and alef: isolated and final
)

func init() {
	for _, block := range [][2]rune{{0xFB50, 0xFBE7}, {0xFBFC, 0xFBFF}, {0xFE80, 0xFEFC}} {
		for r := block[0]; r <= block[1]; r++ {
			switch plain := []rune(norm.NFKC.String(string(r))); {
			case len(plain) == 1 && plain[0] != r:
				arabicForms[plain[0]] = append(arabicForms[plain[0]], r)
			case len(plain) == 2 && plain[0] == 'ل':
				key := [2]rune{plain[0], plain[1]}
				arabicLigatures[key] = append(arabicLigatures[key], r)
			}
		}
	}
}

const tatweel = 'ـ'

func joinsNext(r rune) bool   { return r == tatweel || len(arabicForms[r]) >= 4 }
func joinsBefore(r rune) bool { return r == tatweel || len(arabicForms[r]) >= 2 }

// joined is a text with the forms of Arabic letters.
func joined(text string) string {
	if !slices.ContainsFunc([]rune(text), func(r rune) bool { return arabicForms[r] != nil }) {
		return text
	}
	letters, out := []rune(text), make([]rune, 0, len(text))
	for i := 0; i < len(letters); i++ {
		forms, end := arabicForms[letters[i]], i
		if i+1 < len(letters) {
			if both := arabicLigatures[[2]rune{letters[i], letters[i+1]}]; both != nil {
				forms, end = both, i+1
			}
		}
		before, next := neighbour(letters, i, -1), neighbour(letters, end, 1)
		form := 0
		if joinsNext(before) && len(forms) >= 2 {
			form = 1
		}
		if len(forms) >= 4 && joinsBefore(next) {
			form += 2
		}
		if form < len(forms) {
			out = append(out, forms[form])
		} else {
			out = append(out, letters[i])
		}
		i = end
	}
	return string(out)
}

// neighbour is the next letter in a direction, marks left out; 0: there is none.
func neighbour(letters []rune, at, step int) rune {
	for at += step; at >= 0 && at < len(letters); at += step {
		if !unicode.Is(unicode.Mn, letters[at]) {
			return letters[at]
		}
	}
	return 0
}

// visual is a line in the order in which its letters stand on paper, by the rules of Unicode's
// bidirectional algorithm (UAX 9) without its control characters, which names do not have. Marks
// of turned letters stand before them: so the fonts draw them over the letter.
func visual(line string) string {
	letters := []rune(line)
	levels := levelsOf(letters)
	highest := 0
	for i, level := range levels {
		highest = max(highest, level)
		if at, _ := bidi.LookupRune(letters[i]); level%2 == 1 && at.IsBracket() {
			letters[i] = []rune(bidi.ReverseString(string(letters[i])))[0]
		}
	}
	for level := highest; level > 0; level-- {
		for from := 0; from < len(letters); from++ {
			to := from
			for to < len(letters) && levels[to] >= level {
				to++
			}
			slices.Reverse(letters[from:to])
			slices.Reverse(levels[from:to])
			from = max(from, to)
		}
	}
	return string(letters)
}

// levelsOf are the levels of a line that is one paragraph: even ones run to the right.
func levelsOf(letters []rune) []int {
	base, classes := bidi.L, make([]bidi.Class, len(letters))
	for i, r := range letters {
		at, _ := bidi.LookupRune(r)
		classes[i] = at.Class()
	}
	if first := slices.IndexFunc(classes, isStrong); first >= 0 && classes[first] != bidi.L {
		base = bidi.R
	}
	weak(classes, base)
	paired(letters, classes, base)
	neutral(classes, base)
	levels := make([]int, len(letters))
	for i, c := range classes {
		switch isNumber := c == bidi.EN || c == bidi.AN; {
		case base == bidi.L && c == bidi.R, base == bidi.R && c != bidi.R:
			levels[i] = 1
			if base == bidi.R {
				levels[i] = 2
			}
		case base == bidi.L && isNumber:
			levels[i] = 2
		case base == bidi.R:
			levels[i] = 1
		}
	}
	return levels
}

func isStrong(c bidi.Class) bool { return c == bidi.L || c == bidi.R || c == bidi.AL }

// weak applies the rules W1 to W7.
func weak(classes []bidi.Class, base bidi.Class) {
	before, strong := base, base
	for i, c := range classes { // W1, W2, W3
		switch {
		case c == bidi.NSM:
			c = before
		case c == bidi.EN && strong == bidi.AL:
			c = bidi.AN
		}
		if isStrong(c) {
			strong = c
		}
		before, classes[i] = c, c
	}
	at := func(i int) bidi.Class {
		if i < 0 || i >= len(classes) {
			return bidi.ON
		}
		return classes[i]
	}
	for i, c := range classes { // W4
		sides := at(i - 1)
		isBetween := sides == at(i+1) && (sides == bidi.EN && (c == bidi.ES || c == bidi.CS) || sides == bidi.AN && c == bidi.CS)
		if isBetween {
			classes[i] = sides
		}
	}
	for i, c := range classes { // W5
		next := i
		for at(next) == bidi.ET {
			next++
		}
		if c == bidi.ET && (at(i-1) == bidi.EN || at(next) == bidi.EN) {
			classes[i] = bidi.EN
		}
	}
	strong = base
	for i, c := range classes { // W3, W6, W7
		switch {
		case c == bidi.AL:
			c = bidi.R
		case c == bidi.ES || c == bidi.ET || c == bidi.CS:
			c = bidi.ON
		case c == bidi.EN && strong == bidi.L:
			c = bidi.L
		}
		if c == bidi.L || c == bidi.R {
			strong = c
		}
		classes[i] = c
	}
}

// sideOf is what a class is for the letters beside it: numbers count as right to left.
func sideOf(c bidi.Class) bidi.Class {
	if c == bidi.EN || c == bidi.AN {
		return bidi.R
	}
	return c
}

// paired applies the rule N0: both brackets of a pair run as what is in them, if it runs as the
// line, or as what is before them and in them.
func paired(letters []rune, classes []bidi.Class, base bidi.Class) {
	var open []int
	closes := map[int]int{}
	for i, r := range letters {
		at, _ := bidi.LookupRune(r)
		if !at.IsBracket() || classes[i] != bidi.ON {
			continue
		}
		if at.IsOpeningBracket() {
			open = append(open, i)
			continue
		}
		for k, from := range slices.Backward(open) {
			if bidi.ReverseString(string(letters[from])) == string(r) {
				closes[from], open = i, open[:k]
				break
			}
		}
	}
	for _, from := range slices.Sorted(maps.Keys(closes)) {
		inside := func(side bidi.Class) bool {
			return slices.ContainsFunc(classes[from+1:closes[from]], func(c bidi.Class) bool { return sideOf(c) == side })
		}
		other := bidi.L
		if base == bidi.L {
			other = bidi.R
		}
		switch {
		case inside(base):
			classes[from], classes[closes[from]] = base, base
		case inside(other):
			becomes := base
			if strongBefore(classes[:from], base) == other {
				becomes = other
			}
			classes[from], classes[closes[from]] = becomes, becomes
		}
	}
}

func strongBefore(classes []bidi.Class, base bidi.Class) bidi.Class {
	for _, c := range slices.Backward(classes) {
		if side := sideOf(c); side == bidi.L || side == bidi.R {
			return side
		}
	}
	return base
}

// neutral applies the rules N1 and N2, and L1 for blanks at the end.
func neutral(classes []bidi.Class, base bidi.Class) {
	isNeutral := func(c bidi.Class) bool { return sideOf(c) != bidi.L && sideOf(c) != bidi.R }
	before := base
	for from := 0; from < len(classes); from++ {
		if !isNeutral(classes[from]) {
			before = sideOf(classes[from])
			continue
		}
		to := from
		for to < len(classes) && isNeutral(classes[to]) {
			to++
		}
		next, becomes := base, base
		if to < len(classes) {
			next = sideOf(classes[to])
		}
		if before == next && to < len(classes) {
			becomes = before
		}
		for i := from; i < to; i++ {
			classes[i] = becomes
		}
		from = to - 1
	}
}
