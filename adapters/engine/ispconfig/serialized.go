package ispconfig

import (
	"strconv"
	"strings"
)

// The engine's jobs carry the row as it was and as it is, in the form of PHP's
// serialize: a:2:{s:3:"new";a:1:{s:2:"id";s:1:"7";}s:3:"old";…}.

// newRow reads the row as a job leaves it.
func newRow(data string) (row, bool) {
	s := &serializedText{data}
	parts, fine := s.open()
	for range parts {
		name, named := s.value()
		if !fine || !named {
			return nil, false
		}
		carried, read := s.row()
		if name == "new" || !read {
			return carried, read
		}
	}
	return nil, false
}

// A serializedText is what is left to read of a text.
type serializedText struct{ rest string }

// open begins a map and tells how many members it has.
func (s *serializedText) open() (members int, fine bool) {
	if !s.skip("a:") {
		return 0, false
	}
	return s.count(":{")
}

func (s *serializedText) row() (row, bool) {
	members, fine := s.open()
	all := row{}
	for range members {
		name, named := s.value()
		value, read := s.value()
		if !fine || !named || !read {
			return nil, false
		}
		all[name] = value
	}
	return all, fine && s.skip("}")
}

// value reads a text, a number, a truth value or null, which is "".
func (s *serializedText) value() (string, bool) {
	switch {
	case s.skip("N;"):
		return "", true
	case s.skip("s:"):
		return s.text()
	case s.skip("i:"), s.skip("b:"), s.skip("d:"):
		value, rest, fine := strings.Cut(s.rest, ";")
		s.rest = rest
		return value, fine
	}
	return "", false
}

func (s *serializedText) text() (string, bool) {
	length, fine := s.count(`:"`)
	if !fine || length > len(s.rest) {
		return "", false
	}
	text := s.rest[:length]
	s.rest = s.rest[length:]
	return text, s.skip(`";`)
}

func (s *serializedText) skip(text string) (fine bool) {
	s.rest, fine = strings.CutPrefix(s.rest, text)
	return fine
}

// count reads a number that ends at a text.
func (s *serializedText) count(end string) (int, bool) {
	digits, rest, found := strings.Cut(s.rest, end)
	n, err := strconv.Atoi(digits)
	s.rest = rest
	return n, found && err == nil && n >= 0
}
