package sealing

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// A String is a string value in a JSON document.
type String struct {
	Pointer    string // JSON pointer, such as "/contacts/0/email"
	Start, End int    // of its JSON form in the document, quotes included
}

// Visit is called for a string value. The pattern is its JSON pointer with "*"
// for every index of an array. The slices are valid during the call.
type Visit func(pointer, pattern, quoted []byte) (keep bool)

// Strings returns the string values of a valid JSON document that visit keeps.
func Strings(document []byte, visit Visit) []String {
	w := walker{document: document, visit: visit}
	w.value()
	return w.kept
}

// Replace copies a document with other texts in place of some of its strings.
func Replace(document []byte, strings []String, text func(i int) string) []byte {
	size := len(document)
	texts := make([][]byte, len(strings))
	for i := range strings {
		texts[i] = quote(text(i))
		size += len(texts[i])
	}
	replaced, end := make([]byte, 0, size), 0
	for i, s := range strings {
		replaced = append(append(replaced, document[end:s.Start]...), texts[i]...)
		end = s.End
	}
	return append(replaced, document[end:]...)
}

var marked = []byte(`"` + Prefix)

// MaySeal tells whether a document can hold sealed texts.
func MaySeal(document []byte) bool { return bytes.Contains(document, marked) }

// IsSealed tells whether a quoted string is a sealed text.
func IsSealed(quoted []byte) bool { return bytes.HasPrefix(quoted, marked) }

// Blank empties the sealed texts of a valid JSON document, in its own bytes. A quote
// before "sealed:" begins a string, unless it is escaped, and so part of one.
func Blank(document []byte) []byte {
	blank, end := document[:0], 0
	for {
		found := bytes.Index(document[end:], marked)
		if found < 0 {
			return append(blank, document[end:]...)
		}
		start := end + found
		w := walker{document: document, at: start}
		if start > 0 && document[start-1] == '\\' {
			blank = append(blank, document[end:start+1]...)
			end = start + 1
			continue
		}
		w.text()
		if behind := w.at; behind < len(document) && w.skipSpace() == ':' { // it is the name of a member
			blank = append(blank, document[end:behind]...)
			end = behind
		} else {
			blank = append(append(blank, document[end:start]...), `""`...)
			end = behind
		}
	}
}

// Escape writes clear texts that look like sealed ones in another JSON form of
// the same text, in which [IsSealed] is false.
func Escape(document []byte) []byte {
	if !MaySeal(document) {
		return document
	}
	found := Strings(document, func(_, _, quoted []byte) bool { return IsSealed(quoted) })
	var escaped []byte
	end := 0
	for _, s := range found {
		escaped = append(append(escaped, document[end:s.Start]...), `"\u0073`...)
		end = s.Start + len(`"s`)
	}
	return append(escaped, document[end:]...)
}

// Unquote returns the text of a JSON string.
func Unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // it is part of a valid document
	return text
}

func quote(text string) []byte {
	quoted, _ := json.Marshal(text) // never fails for a string
	return quoted
}

// A walker goes through a valid JSON document once, from left to right.
type walker struct {
	document         []byte
	at               int
	pointer, pattern []byte
	visit            Visit
	kept             []String
}

func (w *walker) value() {
	switch w.skipSpace() {
	case '{':
		w.object()
	case '[':
		w.array()
	case '"':
		start := w.at
		if quoted := w.text(); w.visit(w.pointer, w.pattern, quoted) {
			w.kept = append(w.kept, String{string(w.pointer), start, w.at})
		}
	default: // a number, true, false or null
		for w.at < len(w.document) && strings.IndexByte(",]} \t\r\n", w.document[w.at]) < 0 {
			w.at++
		}
	}
}

func (w *walker) object() {
	for w.at++; w.skipSpace() != '}'; {
		if w.document[w.at] == ',' {
			w.at++
			w.skipSpace()
		}
		name := token(w.text())
		w.skipSpace()
		w.at++ // the colon
		w.member(name, name)
	}
	w.at++
}

func (w *walker) array() {
	w.at++
	for i := 0; w.skipSpace() != ']'; i++ {
		if w.document[w.at] == ',' {
			w.at++
		}
		w.member(strconv.AppendInt(nil, int64(i), 10), anyIndex)
	}
	w.at++
}

var anyIndex = []byte("*")

// token is the name of a member in a JSON pointer.
func token(quoted []byte) []byte {
	if !bytes.ContainsAny(quoted, `\~/`) {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(strings.NewReplacer("~", "~0", "/", "~1").Replace(Unquote(quoted)))
}

// member goes through the value of a member, or of an element.
func (w *walker) member(name, pattern []byte) {
	pointer, before := len(w.pointer), len(w.pattern)
	w.pointer = append(append(w.pointer, '/'), name...)
	w.pattern = append(append(w.pattern, '/'), pattern...)
	w.value()
	w.pointer, w.pattern = w.pointer[:pointer], w.pattern[:before]
}

// text moves behind a string, and returns it with its quotes.
func (w *walker) text() []byte {
	start := w.at
	for w.at++; w.document[w.at] != '"'; w.at++ {
		if w.document[w.at] == '\\' {
			w.at++
		}
	}
	w.at++
	return w.document[start:w.at]
}

func (w *walker) skipSpace() byte {
	for {
		switch c := w.document[w.at]; c {
		case ' ', '\t', '\r', '\n':
			w.at++
		default:
			return c
		}
	}
}
