package css

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// declarations reads a block of properties up to its closing brace.
func (s *sheet) declarations(rule token) string {
	var all []string
	for {
		s.blanks()
		t, more := s.next()
		switch {
		case !more, t.TokenType == css.RightBraceToken:
			s.closed(rule)
			return "{" + strings.Join(all, ";") + "}\n"
		case t.TokenType == css.SemicolonToken:
			s.take()
			continue
		}
		tokens := spaced(s.until(css.SemicolonToken, css.LeftBraceToken, css.RightBraceToken))
		if next, _ := s.next(); next.TokenType == css.LeftBraceToken {
			s.refuse(t.line, "A rule inside of a rule is not allowed.")
			s.skip()
			continue
		}
		all = append(all, s.declaration(tokens))
	}
}

// declaration reads "color: red !important".
func (s *sheet) declaration(tokens []token) string {
	name := strings.ToLower(tokens[0].text)
	rest := spaced(tokens[1:])
	if len(rest) == 0 || rest[0].TokenType != css.ColonToken {
		s.refuse(tokens[0].line, `"%s" is not a property with a value.`, short(written(tokens)))
		return ""
	}
	custom := tokens[0].TokenType == css.CustomPropertyNameToken
	switch {
	case custom && !strings.HasPrefix(tokens[0].text, ownPrefix):
		s.refuse(tokens[0].line, "%s is not allowed: custom properties are named %s….", short(tokens[0].text), ownPrefix)
	case custom:
		name = tokens[0].text // upper and lower case are different ones
	case tokens[0].TokenType != css.IdentToken || !slices.Contains(properties, name):
		s.refuse(tokens[0].line, "The property %s is not allowed.", short(name))
	}
	return name + ":" + s.value(tokens[0], name, spaced(rest[1:]))
}

func (s *sheet) value(first token, property string, tokens []token) string {
	value, mark := important(tokens)
	switch {
	case len(value) == 0:
		s.refuse(first.line, "%s has no value.", short(property))
	case property == "content" && (len(value) != 1 || value[0].TokenType != css.StringToken):
		s.refuse(first.line, "content may only be a plain string.")
	case property == "position" && hasFixed(value):
		s.refuse(first.line, "position: fixed is not allowed.")
	case property == "position" && (len(value) != 1 || !slices.Contains(positions, strings.ToLower(value[0].text))):
		s.refuse(first.line, "position may only be one of %s.", strings.Join(positions, ", "))
	}
	return s.values(first, value, "") + mark
}

func hasFixed(value []token) bool {
	return slices.ContainsFunc(value, func(t token) bool { return t.is(css.IdentToken, "fixed") })
}

// important takes "!important" off the end.
func important(tokens []token) (value []token, mark string) {
	n := len(tokens)
	if n == 0 || !tokens[n-1].is(css.IdentToken, "important") {
		return tokens, ""
	}
	for n--; n > 0 && tokens[n-1].TokenType == css.WhitespaceToken; n-- {
	}
	if n == 0 || !tokens[n-1].delim("!") {
		return tokens, ""
	}
	return spaced(tokens[:n-1]), "!important"
}

// plain are tokens that mean nothing but themselves.
var plain = []css.TokenType{
	css.WhitespaceToken, css.IdentToken, css.NumberToken, css.PercentageToken, css.DimensionToken, css.HashToken, css.CommaToken,
}

// values writes a value, a query or the arguments of a function: every token
// has to be known, every bracket closed. Also lists further signs.
func (s *sheet) values(first token, tokens []token, also string) string {
	var open []css.TokenType
	for i, t := range tokens {
		closer, opens := closes[t.TokenType]
		switch {
		case slices.Contains(plain, t.TokenType):
		case t.TokenType == css.StringToken:
			s.refuseCallsIn(t)
		case len(t.text) == 1 && strings.Contains("+-*/"+also, t.text):
		case t.TokenType == css.FunctionToken && !slices.Contains(functions, strings.ToLower(t.text)):
			s.misplaced(t)
			open = append(open, closer)
		case opens && t.TokenType != css.LeftBraceToken:
			open = append(open, closer)
		case len(open) > 0 && t.TokenType == open[len(open)-1]:
			open = open[:len(open)-1]
		case t.TokenType == css.CustomPropertyNameToken && isVariable(tokens[:i], tokens[i+1:]):
			if !strings.HasPrefix(t.text, ownPrefix) {
				s.refuse(t.line, "%s is not allowed: custom properties are named %s….", short(t.text), ownPrefix)
			}
		default:
			s.misplaced(t)
		}
	}
	if len(open) > 0 {
		s.refuse(first.line, "A bracket is not closed.")
	}
	return written(tokens)
}

// isVariable tells whether a custom property stands where var() names it.
func isVariable(before, after []token) bool {
	last, next := neighbour(before, -1), neighbour(after, 1)
	return last.is(css.FunctionToken, "var(") && (next.TokenType == css.CommaToken || next.TokenType == css.RightParenthesisToken)
}

// neighbour is the first token, or the last, that is no blank.
func neighbour(tokens []token, direction int) token {
	at := 0
	if direction < 0 {
		at = len(tokens) - 1
	}
	for ; at >= 0 && at < len(tokens); at += direction {
		if !blank(tokens[at]) {
			return tokens[at]
		}
	}
	return token{}
}

var calls = regexp.MustCompile(`(?i)(url|src|image-set|attr|element|paint|expression)\s*\(`)

// refuseCallsIn refuses a string that reads like a call. It would be harmless,
// but a search of what is served for "url(" must find nothing.
func (s *sheet) refuseCallsIn(t token) {
	if call := calls.FindStringSubmatch(t.text); call != nil {
		s.refuse(t.line, "%s() is not allowed.", strings.ToLower(call[1]))
	}
}
