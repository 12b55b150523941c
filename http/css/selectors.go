package css

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// selectors reads a list of selectors and writes each of them, within the scope
// if it is that of a rule.
func (s *sheet) selectors(first token, tokens []token, scoped bool) string {
	if !s.pass(first.line, tokens) {
		return ""
	}
	var all []string
	for _, one := range split(uncommented(tokens)) {
		if s.selected++; s.selected > MaxSelectors {
			s.stop(first.line, fmt.Sprintf("There are more than %d selectors.", MaxSelectors))
			return ""
		}
		all = append(all, s.selector(first, one, scoped))
	}
	return strings.Join(all, ",")
}

// uncommented is for selectors alone, whose parts are read one by one: nothing
// grows together there that is not allowed together.
func uncommented(tokens []token) []token {
	return slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.TokenType == css.CommentToken })
}

// selector reads simple selectors with combinators between them.
func (s *sheet) selector(first token, tokens []token, scoped bool) string {
	var parts []string // compound, combinator, compound, …
	for len(tokens) > 0 {
		t := tokens[0]
		combinator := combinatorAt(&tokens)
		switch {
		case combinator == "" && len(parts)%2 == 1 || combinator != "" && len(parts)%2 == 0:
			s.misplaced(t)
			return ""
		case combinator != "":
			parts = append(parts, combinator)
			continue
		}
		compound := s.compound(&tokens)
		if compound == "" {
			return ""
		}
		parts = append(parts, compound)
	}
	if len(parts)%2 == 0 {
		s.refuse(first.line, "A selector is not complete.")
		return ""
	}
	if scoped {
		parts = within(parts)
	}
	return strings.Join(parts, "")
}

// within puts a selector into the scope. One that begins with the scope, or with
// the root of all, which stands for it, is there already, unless it goes on to
// the scope's siblings.
func within(parts []string) []string {
	inside := len(parts) == 1 || parts[1] == " " || parts[1] == ">"
	if rest, root := strings.CutPrefix(parts[0], ":root"); root && inside {
		parts[0] = Scope + rest
		return parts
	}
	if rest, own := strings.CutPrefix(parts[0], Scope); own && inside && (rest == "" || strings.Contains(".#[:", rest[:1])) {
		return parts
	}
	return append([]string{Scope, " "}, parts...)
}

// combinatorAt takes a combinator with the blanks around it.
func combinatorAt(tokens *[]token) string {
	rest := *tokens
	combinator := ""
	if len(rest) > 0 && rest[0].TokenType == css.WhitespaceToken {
		combinator, rest = " ", rest[1:]
	}
	if len(rest) > 0 && rest[0].TokenType == css.DelimToken && strings.Contains(">+~", rest[0].text) {
		combinator, rest = rest[0].text, rest[1:]
		if len(rest) > 0 && rest[0].TokenType == css.WhitespaceToken {
			rest = rest[1:]
		}
	}
	*tokens = rest
	return combinator
}

// compound takes what is said of one element: "a.button:hover". It is empty
// when something in it is refused.
func (s *sheet) compound(tokens *[]token) string {
	rest := *tokens
	var b strings.Builder
	if rest[0].TokenType == css.IdentToken || rest[0].delim("*") {
		b.WriteString(rest[0].text)
		rest = rest[1:]
	}
	for len(rest) > 0 && rest[0].TokenType != css.WhitespaceToken && !slices.ContainsFunc([]string{">", "+", "~"}, rest[0].delim) {
		text, length := s.simple(rest)
		if length == 0 {
			return ""
		}
		b.WriteString(text)
		rest = rest[length:]
	}
	*tokens = rest
	return b.String()
}

// simple reads a class, an id, an attribute or a pseudo-class, and tells how
// many tokens it has; none when it is refused.
func (s *sheet) simple(tokens []token) (text string, length int) {
	t := tokens[0]
	switch {
	case t.TokenType == css.HashToken:
		return t.text, 1
	case t.delim(".") && len(tokens) > 1 && tokens[1].TokenType == css.IdentToken:
		return "." + tokens[1].text, 2
	case t.TokenType == css.LeftBracketToken:
		return s.attribute(tokens)
	case t.TokenType == css.ColonToken && len(tokens) > 1:
		return s.pseudo(tokens)
	}
	s.misplaced(t)
	return "", 0
}

var compares = []css.TokenType{
	css.IncludeMatchToken, css.DashMatchToken, css.PrefixMatchToken, css.SuffixMatchToken, css.SubstringMatchToken,
}

// attribute reads [type="text" i].
func (s *sheet) attribute(tokens []token) (text string, length int) {
	end := closing(tokens)
	if end < 0 {
		s.refuse(tokens[0].line, "A bracket is not closed.")
		return "", 0
	}
	parts := slices.DeleteFunc(slices.Clone(tokens[1:end]), blank)
	if len(parts) == 0 || parts[0].TokenType != css.IdentToken || !s.compared(parts[1:]) {
		s.refuse(tokens[0].line, "%s is not allowed.", short(written(tokens[:end+1])))
		return "", 0
	}
	if name := strings.ToLower(parts[0].text); slices.Contains(secretAttributes, name) {
		s.refuse(tokens[0].line, "Attribute selectors on %s are not allowed.", name)
		return "", 0
	}
	if len(parts) == 4 {
		parts[3].text = " " + parts[3].text
	}
	return "[" + written(parts) + "]", end + 1
}

// compared tells whether an attribute is compared with one value: ="text" i.
func (s *sheet) compared(parts []token) bool {
	switch len(parts) {
	case 0:
		return true
	case 1:
		return false
	}
	value, flags := parts[1], parts[2:]
	if value.TokenType == css.StringToken {
		s.refuseCallsIn(value)
	}
	return (parts[0].delim("=") || slices.Contains(compares, parts[0].TokenType)) &&
		(value.TokenType == css.IdentToken || value.TokenType == css.StringToken) &&
		(len(flags) == 0 || len(flags) == 1 && (flags[0].is(css.IdentToken, "i") || flags[0].is(css.IdentToken, "s")))
}

// pseudo reads :hover, ::before, :not(…) and :nth-child(2n+1).
func (s *sheet) pseudo(tokens []token) (text string, length int) {
	colons, known := ":", pseudoClasses
	if tokens[1].TokenType == css.ColonToken {
		colons, known = "::", pseudoElements
	}
	if len(tokens) == len(colons) {
		s.misplaced(tokens[0])
		return "", 0
	}
	name := tokens[len(colons)]
	word := strings.ToLower(name.text)
	switch {
	case name.TokenType == css.IdentToken && slices.Contains(known, word):
		return colons + word, len(colons) + 1
	case name.TokenType == css.FunctionToken && colons == ":" && slices.Contains(pseudoFunctions, word):
		text, length = s.arguments(word, tokens[1:])
		return text, length
	case name.TokenType == css.FunctionToken:
		word += ")"
	}
	s.refuse(name.line, "%s%s is not allowed.", colons, short(word))
	return "", 0
}

var counted = regexp.MustCompile(`^(even|odd|[+-]?[0-9]+|[+-]?[0-9]*n([+-][0-9]+)?)$`)

// arguments reads what stands in the brackets of a pseudo-class: selectors, or
// which of several children are meant.
func (s *sheet) arguments(word string, tokens []token) (text string, length int) {
	end := closing(tokens)
	if end < 0 {
		s.refuse(tokens[0].line, "A bracket is not closed.")
		return "", 0
	}
	inner := tokens[1:end]
	text = s.selectorsOrCount(word, tokens[0], inner)
	if text == "" {
		return "", 0
	}
	return ":" + word + text + ")", end + 2
}

func (s *sheet) selectorsOrCount(word string, first token, inner []token) string {
	if !strings.HasPrefix(word, "nth-") {
		return s.selectors(first, inner, false)
	}
	count := strings.ToLower(written(slices.DeleteFunc(slices.Clone(inner), blank)))
	if !counted.MatchString(count) {
		s.refuse(first.line, `"%s" counts no children.`, short(count))
		return ""
	}
	return count
}
