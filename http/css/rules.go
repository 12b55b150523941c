package css

import (
	"strings"

	"github.com/tdewolff/parse/v2/css"
)

// rules reads rules up to the end of the sheet, or of the block around them.
func (s *sheet) rules(inside bool) string {
	var b strings.Builder
	for {
		s.blanks()
		t, more := s.next()
		switch {
		case !more:
			return b.String()
		case t.TokenType == css.RightBraceToken && inside:
			return b.String()
		case t.TokenType == css.RightBraceToken:
			s.refuse(t.line, `A "}" closes nothing.`)
			s.take()
		case t.TokenType == css.AtKeywordToken:
			b.WriteString(s.atRule(s.take()))
		default:
			b.WriteString(s.styleRule(t))
		}
	}
}

func (s *sheet) styleRule(first token) string {
	prelude := s.until(css.LeftBraceToken, css.SemicolonToken, css.RightBraceToken)
	if !s.opened(first) {
		return ""
	}
	return s.selectors(first, prelude, true) + s.declarations(first)
}

func (s *sheet) atRule(at token) string {
	read := map[string]func(at token, prelude []token) string{
		"@media": s.media, "@supports": s.supports, "@keyframes": s.keyframes,
	}[strings.ToLower(at.text)]
	if read == nil {
		s.refuse(at.line, "%s is not allowed.", short(at.text))
		s.skip()
		return ""
	}
	prelude := spaced(s.until(css.LeftBraceToken, css.SemicolonToken, css.RightBraceToken))
	if !s.opened(at) {
		return ""
	}
	return strings.ToLower(at.text) + " " + read(at, prelude) + "}\n"
}

func (s *sheet) media(at token, query []token) string {
	return s.values(at, query, ":>=") + s.group(at)
}

func (s *sheet) supports(at token, condition []token) string {
	if len(condition) == 0 {
		s.refuse(at.line, "@supports needs a condition.")
	}
	return s.condition(condition) + s.group(at)
}

// group is the block of a rule that holds rules, without its closing brace.
func (s *sheet) group(at token) string {
	body := s.rules(true)
	s.closed(at)
	return "{\n" + body
}

// condition reads "not (display: grid) and (gap: 1px)". What is asked about has
// to be allowed as well.
func (s *sheet) condition(tokens []token) string {
	if len(tokens) == 0 || !s.pass(tokens[0].line, tokens) {
		return ""
	}
	var b strings.Builder
	for len(tokens) > 0 {
		t, length := tokens[0], 1
		switch {
		case t.TokenType == css.LeftParenthesisToken || t.TokenType == css.FunctionToken:
			length = closing(tokens) + 1
			if length == 0 {
				s.refuse(t.line, "A bracket is not closed.")
				return ""
			}
			b.WriteString("(" + s.asked(t, spaced(tokens[1:length-1])) + ")")
		case t.TokenType == css.WhitespaceToken, t.is(css.IdentToken, "not"), t.is(css.IdentToken, "and"), t.is(css.IdentToken, "or"):
			b.WriteString(t.text)
		default:
			s.misplaced(t)
		}
		tokens = tokens[length:]
	}
	return b.String()
}

func (s *sheet) asked(bracket token, tokens []token) string {
	switch {
	case bracket.TokenType == css.FunctionToken:
		s.misplaced(bracket)
		return ""
	case len(tokens) > 1 && tokens[0].TokenType != css.LeftParenthesisToken && !tokens[0].is(css.IdentToken, "not"):
		return s.declaration(tokens)
	}
	return s.condition(tokens)
}

// keyframes reads the steps of an animation.
func (s *sheet) keyframes(at token, name []token) string {
	if len(name) != 1 || name[0].TokenType != css.IdentToken {
		s.refuse(at.line, "@keyframes needs a name.")
	}
	b := strings.Builder{}
	b.WriteString(written(name) + "{\n")
	for {
		s.blanks()
		t, more := s.next()
		if !more || t.TokenType == css.RightBraceToken {
			s.closed(at)
			return b.String()
		}
		step := spaced(s.until(css.LeftBraceToken, css.SemicolonToken, css.RightBraceToken))
		if s.opened(t) {
			b.WriteString(s.steps(t, step) + s.declarations(t))
		}
	}
}

func (s *sheet) steps(first token, tokens []token) string {
	var all []string
	for _, one := range split(tokens) {
		if len(one) != 1 || one[0].TokenType != css.PercentageToken && !one[0].is(css.IdentToken, "from") &&
			!one[0].is(css.IdentToken, "to") {
			s.refuse(first.line, "A keyframe is from, to or a percentage.")
			continue
		}
		all = append(all, one[0].text)
	}
	return strings.Join(all, ",")
}

// opened takes the brace that opens a block. Without one there is no rule, and
// what ended it is taken instead.
func (s *sheet) opened(rule token) bool {
	t, more := s.next()
	if !more || t.TokenType != css.LeftBraceToken {
		s.refuse(rule.line, "A rule has no block in braces.")
		if more && t.TokenType == css.SemicolonToken {
			s.take()
		}
		return false
	}
	s.take()
	s.blocks++
	if s.blocks == MaxRules+1 {
		s.refuse(rule.line, "There are more than %d rules.", MaxRules)
	}
	return true
}

// closed takes the brace that closes a block.
func (s *sheet) closed(rule token) {
	if _, more := s.next(); !more {
		s.refuse(rule.line, "A block is not closed.")
		return
	}
	s.take()
}

func (s *sheet) misplaced(t token) {
	switch t.TokenType {
	case css.URLToken, css.BadURLToken:
		s.refuse(t.line, "url() is not allowed.")
	case css.FunctionToken:
		s.refuse(t.line, "%s) is not allowed.", short(strings.ToLower(t.text)))
	case css.AtKeywordToken:
		s.refuse(t.line, "%s is not allowed.", short(t.text))
	case css.BadStringToken: // already said
	default:
		s.refuse(t.line, `"%s" is not allowed here.`, short(t.text))
	}
}

// split cuts at commas outside of brackets.
func split(tokens []token) [][]token {
	var all [][]token
	from, depth := 0, 0
	for i, t := range tokens {
		_, opens := closes[t.TokenType]
		switch {
		case opens:
			depth++
		case t.TokenType == css.RightParenthesisToken || t.TokenType == css.RightBracketToken:
			depth--
		case t.TokenType == css.CommaToken && depth == 0:
			all, from = append(all, spaced(tokens[from:i])), i+1
		}
	}
	return append(all, spaced(tokens[from:]))
}
