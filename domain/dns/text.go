package dns

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is what the data of a TXT record says. Data that consists of texts in
// quotes, as in a zone file, says what is in them, one after the other
// (\" is a quote, \\ a backslash, \065 the character of that number);
// all other data means itself. It is no text when quotes are left open, when it
// is empty, breaks the line, is over 4096 characters long, or when it would
// again be something in quotes.
func Text(data string) (string, bool) {
	text := data
	if strings.HasPrefix(data, `"`) {
		unquoted, ok := Unquote(data)
		if !ok || strings.HasPrefix(unquoted, `"`) {
			return "", false
		}
		text = unquoted
	}
	return text, isText(text) && utf8.RuneCountInString(data) <= MaxData
}

func isText(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsAny(s, "\r\n\x00") && strings.Count(s, `"`)%2 == 0
}

// Unquote joins the strings of a zone file's text, each in quotes and with blanks
// between them. It reports whether data consists of such strings.
func Unquote(data string) (string, bool) {
	var b strings.Builder
	for data != "" {
		rest, opened := strings.CutPrefix(data, `"`)
		if !opened {
			return "", false
		}
		rest, closed := unquoteOne(&b, rest)
		if !closed {
			return "", false
		}
		data = strings.TrimLeft(rest, " \t")
	}
	return b.String(), true
}

// unquoteOne reads to the closing quote and returns what follows it.
func unquoteOne(b *strings.Builder, s string) (string, bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			c, length := escaped(s[i+1:])
			b.WriteByte(c)
			i += length
		default:
			b.WriteByte(s[i])
		}
	}
	return "", false
}

// escaped is the byte that stands behind a backslash, and how long it is
// written: three digits are its number.
func escaped(s string) (c byte, length int) {
	if len(s) >= 3 {
		if n, err := strconv.ParseUint(s[:3], 10, 8); err == nil {
			return byte(n), 3
		}
	}
	return s[0], 1
}

// Strings cuts a text into the pieces of at most 255 bytes that DNS carries;
// a character is not cut in two.
func Strings(text string) []string {
	var pieces []string
	for len(text) > 255 {
		end := 255
		for end > 252 && !utf8.RuneStart(text[end]) {
			end--
		}
		pieces, text = append(pieces, text[:end]), text[end:]
	}
	return append(pieces, text)
}
