package field

import "unicode/utf8"

// MarshalJSON shows the record: its fields in declared order, less the secret.
func (s Set) MarshalJSON() ([]byte, error) { return s.AppendJSON(nil), nil }

// AppendJSON appends the record as answers show it.
func (s Set) AppendJSON(b []byte) []byte { return s.append(b, false) }

// AppendKept appends the record as a replay of the answer shows it: with null
// for what was to be seen only once.
func (s Set) AppendKept(b []byte) []byte { return s.append(b, true) }

func (s Set) append(b []byte, kept bool) []byte {
	b = append(b, '{')
	first := true
	for i := range s {
		f := &s[i]
		if f.secret || f.hidden {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(AppendText(b, f.Name), ':')
		if kept && f.oneTime {
			b = append(b, "null"...)
			continue
		}
		b = f.kind.show(b, f)
	}
	return append(b, '}')
}

const hexadecimal = "0123456789abcdef"

// AppendText appends a text as JSON, escaping what JSON demands and U+2028
// and U+2029, which scripts take for line ends.
func AppendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = appendEscaped(append(b, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			size = brokenLength(s[i:])
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + size
		case r == '\u2028', r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hexadecimal[r&0xf])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// brokenLength is the number of bytes that one replacement character stands
// for: half of a pair is one.
func brokenLength(s string) int {
	if len(s) > 2 && s[0] == 0xED && s[1] >= 0xA0 {
		return 3
	}
	return 1
}

var short = map[byte]byte{'"': '"', '\\': '\\', '\n': 'n', '\r': 'r', '\t': 't', '\b': 'b', '\f': 'f'}

func appendEscaped(b []byte, c byte) []byte {
	if letter, has := short[c]; has {
		return append(b, '\\', letter)
	}
	return append(b, '\\', 'u', '0', '0', hexadecimal[c>>4], hexadecimal[c&0xf])
}
