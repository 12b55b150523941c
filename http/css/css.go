// Package css makes a customer's style sheet harmless: only what is known to
// change no more than looks passes, written anew, and kept within the part of
// the panel that the customer may style (docs/white-label.md).
package css

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// MaxBytes is how large a style sheet may be.
	MaxBytes = 100 << 10

	// MaxRules is how many blocks in braces it may have.
	MaxRules = 5000

	// MaxSelectors is how many selectors it may have, those within others included.
	MaxSelectors = 10000

	// MaxSteps bounds the work of reading it, in tokens that are passed: brackets within
	// brackets are passed once for each. Only nested sheets of the largest sizes reach it.
	MaxSteps = 4 * MaxBytes

	// Scope is the class of the part of a page that customers may style.
	Scope = ".wl-scope"

	maxDepth    = 32  // of brackets of any sort
	maxProblems = 100 // that are said
)

// Scoped is the style sheet as it may be served: each selector within [Scope],
// comments gone, every token written anew. It is empty if anything in the sheet
// is not allowed; then problems says what, line by line:
// "Line 3: url() is not allowed." What has been served passes again and stays
// the same.
func Scoped(source string) (served string, problems []string) {
	if len(source) > MaxBytes {
		return "", []string{"The style sheet is larger than 100 KiB."}
	}
	served, s := scoped(source)
	if len(s.problems) > 0 {
		return "", s.report()
	}
	return served, nil
}

func scoped(source string) (served string, s *sheet) {
	s = &sheet{}
	s.read(source)
	return s.rules(false), s
}

// A sheet is a style sheet that is being read.
type sheet struct {
	tokens   []token
	blocks   int
	selected int // selectors
	passed   int // tokens, each time that they were
	stopped  bool
	problems []problem
}

type problem struct {
	line int
	text string
}

// refuse notes a problem, once for each line.
func (s *sheet) refuse(line int, format string, args ...any) {
	p := problem{line, fmt.Sprintf(format, args...)}
	if n := len(s.problems); !s.stopped && (n == 0 || s.problems[n-1] != p) {
		s.problems = append(s.problems, p)
	}
}

// pass counts tokens that are about to be passed once more. False: there were too many, and
// nothing more is read.
func (s *sheet) pass(line int, tokens []token) bool {
	if s.passed += len(tokens); s.passed > MaxSteps {
		s.stop(line, "There are too many brackets within brackets.")
	}
	return !s.stopped
}

// stop reads nothing more: the rest could take long.
func (s *sheet) stop(line int, why string) {
	s.refuse(line, "%s", why)
	s.tokens, s.stopped = nil, true
}

func (s *sheet) report() []string {
	slices.SortStableFunc(s.problems, func(a, b problem) int { return a.line - b.line })
	var all []string
	said := map[problem]bool{}
	for _, p := range s.problems {
		switch {
		case said[p]:
		case len(all) == maxProblems:
			return append(all, "The style sheet has more problems, further down.")
		default:
			all = append(all, fmt.Sprintf("Line %d: %s", p.line, p.text))
		}
		said[p] = true
	}
	return all
}

// short is a customer's own text as a problem repeats it.
func short(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return string(runes)
}

// Problems returns all that is not allowed in a style sheet.
func Problems(sheet string) []string {
	_, problems := Scoped(sheet)
	return problems
}
