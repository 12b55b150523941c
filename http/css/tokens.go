package css

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

type token struct {
	css.TokenType
	text string
	line int
}

func (t token) is(kind css.TokenType, text string) bool {
	return t.TokenType == kind && strings.EqualFold(t.text, text)
}

func (t token) delim(one string) bool { return t.is(css.DelimToken, one) }

var closes = map[css.TokenType]css.TokenType{
	css.FunctionToken:        css.RightParenthesisToken,
	css.LeftParenthesisToken: css.RightParenthesisToken,
	css.LeftBracketToken:     css.RightBracketToken,
	css.LeftBraceToken:       css.RightBraceToken,
}

// read cuts the text into tokens, and refuses what could make browsers cut it
// otherwise: escapes, the beginning of a tag, control characters, what is left
// open. Nothing is read of a text with brackets so deep that reading them would
// take long.
func (s *sheet) read(source string) {
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	s.refuseCharacters(source)
	lexer := css.NewLexer(parse.NewInputString(source))
	var open []css.TokenType
	for line := 1; ; {
		kind, data := lexer.Next()
		if kind == css.ErrorToken {
			break
		}
		t := token{kind, string(data), line}
		line += bytes.Count(data, []byte("\n"))
		s.refuseUnclosed(t)
		if closer, opens := closes[kind]; opens {
			open = append(open, closer)
		} else if n := len(open); n > 0 && kind == open[n-1] {
			open = open[:n-1]
		}
		if len(open) > maxDepth {
			s.refuse(t.line, "Brackets are nested too deeply.")
			s.tokens = nil
			return
		}
		s.tokens = append(s.tokens, t)
	}
	s.passed = len(s.tokens)
}

func (s *sheet) refuseCharacters(source string) {
	line := 1
	for i, c := range source {
		switch {
		case c == '\n':
			line++
		case c == '\\':
			s.refuse(line, "Backslashes are not allowed.")
		case c == '<':
			s.refuse(line, `"<" is not allowed.`)
		case c != '\t' && unicode.IsControl(c):
			s.refuse(line, "Control characters are not allowed.")
		case c == utf8.RuneError && !strings.HasPrefix(source[i:], "\uFFFD"):
			s.refuse(line, "The text is not valid UTF-8.")
		}
	}
}

func (s *sheet) refuseUnclosed(t token) {
	switch {
	case t.TokenType == css.CommentToken && (len(t.text) < 4 || !strings.HasSuffix(t.text, "*/")):
		s.refuse(t.line, "A comment is not closed.")
	case t.TokenType == css.BadStringToken, t.TokenType == css.StringToken && (len(t.text) < 2 || t.text[len(t.text)-1] != t.text[0]):
		s.refuse(t.line, "A string is not closed.")
	}
}

// next is the next token, without taking it; a false tells that there is none.
func (s *sheet) next() (token, bool) {
	if len(s.tokens) == 0 {
		return token{}, false
	}
	return s.tokens[0], true
}

func (s *sheet) take() token {
	t := s.tokens[0]
	s.tokens = s.tokens[1:]
	return t
}

// blanks takes blanks and comments.
func (s *sheet) blanks() {
	for len(s.tokens) > 0 && blank(s.tokens[0]) {
		s.take()
	}
}

// until takes the tokens up to the first of the given kinds, which is left. It
// does not ask whether that stands in brackets: what would be read otherwise by
// a browser is refused for its brackets.
func (s *sheet) until(stops ...css.TokenType) []token {
	all, end := s.tokens, 0
	for end < len(all) && !slices.Contains(stops, all[end].TokenType) {
		end++
	}
	s.tokens = all[end:]
	return all[:end]
}

// skip takes a statement that is refused anyway: to its semicolon, or to the end
// of its block.
func (s *sheet) skip() {
	depth := 0
	for len(s.tokens) > 0 {
		switch t := s.tokens[0]; {
		case t.TokenType == css.LeftBraceToken:
			depth++
		case t.TokenType == css.RightBraceToken && depth == 0:
			return
		case t.TokenType == css.RightBraceToken:
			depth--
		}
		if t := s.take(); depth == 0 && (t.TokenType == css.SemicolonToken || t.TokenType == css.RightBraceToken) {
			return
		}
	}
}

func blank(t token) bool {
	return t.TokenType == css.WhitespaceToken || t.TokenType == css.CommentToken
}

// spaced has one blank for any number of blanks and comments, and none at the
// ends. A comment must not just vanish from between two tokens: they would
// become another one.
func spaced(tokens []token) []token {
	var all []token
	for _, t := range tokens {
		switch n := len(all); {
		case !blank(t):
			all = append(all, t)
		case n > 0 && all[n-1].TokenType != css.WhitespaceToken:
			all = append(all, token{css.WhitespaceToken, " ", t.line})
		}
	}
	if n := len(all); n > 0 && all[n-1].TokenType == css.WhitespaceToken {
		all = all[:n-1]
	}
	return all
}

// closing is the place of the bracket that closes the one at the beginning, or
// -1.
func closing(tokens []token) int {
	var open []css.TokenType
	for i, t := range tokens {
		if closer, opens := closes[t.TokenType]; opens {
			open = append(open, closer)
		} else if t.TokenType == open[len(open)-1] {
			open = open[:len(open)-1]
		}
		if len(open) == 0 {
			return i
		}
	}
	return -1
}

func written(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}
