package field

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// string reads a text. Without escapes it is a part of the body, not a copy.
func (p *parser) string() string {
	begin := p.at
	p.at++
	start := p.at
	var copied []byte
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			if copied == nil {
				return p.text[start : p.at-1]
			}
			return string(append(copied, p.text[start:p.at-1]...))
		case c < ' ':
			p.fail("Invalid control character at", p.at)
			return ""
		case c == '\\':
			copied = append(copied, p.text[start:p.at]...)
			if copied = p.escape(copied, begin); p.wrong != nil {
				return ""
			}
			start = p.at
		default:
			p.at++
		}
	}
	p.fail("Unterminated string starting at", begin)
	return ""
}

const (
	escapes   = `"\/bfnrt`
	unescaped = "\"\\/\b\f\n\r\t"
)

func (p *parser) escape(b []byte, begin int) []byte {
	at := p.at
	if p.at++; p.at == len(p.text) {
		p.fail("Unterminated string starting at", begin)
		return b
	}
	c := p.text[p.at]
	p.at++
	if i := strings.IndexByte(escapes, c); i >= 0 {
		return append(b, unescaped[i])
	}
	if c != 'u' {
		p.fail(`Invalid \escape`, at)
		return b
	}
	r, ok := p.hex(p.at)
	if !ok {
		p.fail(`Invalid \uXXXX escape`, at+1)
		return b
	}
	p.at += 4
	return p.paired(b, r)
}

// paired appends a character, together with its other half if it has one.
func (p *parser) paired(b []byte, r rune) []byte {
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(b, r)
	}
	if strings.HasPrefix(p.text[p.at:], `\u`) {
		if low, ok := p.hex(p.at + 2); ok {
			if whole := utf16.DecodeRune(r, low); whole != utf8.RuneError {
				p.at += 6
				return utf8.AppendRune(b, whole)
			}
		}
	}
	return appendSurrogate(b, r)
}

func (p *parser) hex(at int) (r rune, ok bool) {
	if at+4 > len(p.text) {
		return 0, false
	}
	for _, c := range []byte(p.text[at : at+4]) {
		i := strings.IndexByte(hexadecimal, c|0x20)
		if i < 0 || c < '0' || c > '9' && c < 'A' {
			return 0, false
		}
		r = r<<4 | rune(i)
	}
	return r, true
}

// checkUTF8 names the first byte that is no UTF-8.
func checkUTF8(body []byte) error {
	if utf8.Valid(body) {
		return nil
	}
	at := 0
	for {
		r, size := utf8.DecodeRune(body[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	length, reason := brokenSequence(body[at:])
	if length == 1 {
		return &SyntaxError{fmt.Sprintf("'utf-8' codec can't decode byte 0x%02x in position %d: %s", body[at], at, reason)}
	}
	return &SyntaxError{fmt.Sprintf("'utf-8' codec can't decode bytes in position %d-%d: %s", at, at+length-1, reason)}
}

// brokenSequence tells how many bytes of a character are there, and what is
// wrong with the next one.
func brokenSequence(b []byte) (length int, reason string) {
	need, low, high := 0, byte(0x80), byte(0xBF)
	switch c := b[0]; {
	case c >= 0xC2 && c <= 0xDF:
		need = 2
	case c >= 0xE0 && c <= 0xEF:
		need = 3
	case c >= 0xF0 && c <= 0xF4:
		need = 4
	default:
		return 1, "invalid start byte"
	}
	switch b[0] { // the second byte has less room in some characters
	case 0xE0:
		low = 0xA0
	case 0xED:
		high = 0x9F
	case 0xF0:
		low = 0x90
	case 0xF4:
		high = 0x8F
	}
	for n := 1; n < need; n++ {
		if n == len(b) {
			return n, "unexpected end of data"
		}
		if b[n] < low || b[n] > high {
			return n, "invalid continuation byte"
		}
		low, high = 0x80, 0xBF
	}
	return 1, "invalid start byte"
}
