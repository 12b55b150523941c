package eventstoretest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// A question is what a client sends Postgres before it waits for the answer.
type question struct {
	sent  []byte
	texts []string // of the statements that it executes
}

// questions reads those of one connection.
type questions struct {
	from     *bufio.Reader
	begun    bool
	prepared map[string]string // texts by the names of statements
	bound    map[string]string // texts by the names of portals
}

func newQuestions(from io.Reader) *questions {
	return &questions{from: bufio.NewReader(from), prepared: map[string]string{}, bound: map[string]string{}}
}

// next reads messages up to one that is answered. A message has a type, a length
// and a body; the first one has no type.
func (r *questions) next() (q question, err error) {
	for {
		kind := byte(0)
		if r.begun {
			if kind, err = r.from.ReadByte(); err != nil {
				return q, err
			}
			q.sent = append(q.sent, kind)
		}
		r.begun = true
		size := make([]byte, 4)
		if _, err := io.ReadFull(r.from, size); err != nil {
			return q, err
		}
		body := make([]byte, binary.BigEndian.Uint32(size)-4)
		if _, err := io.ReadFull(r.from, body); err != nil {
			return q, err
		}
		q.sent = append(append(q.sent, size...), body...)
		if r.ends(kind, body, &q) {
			return q, nil
		}
	}
}

// ends notes what a message says, and tells whether an answer to it is due.
func (r *questions) ends(kind byte, body []byte, q *question) bool {
	first, rest := text(body)
	switch kind {
	case 'P': // parse: statement, text
		r.prepared[first], _ = text(rest)
	case 'B': // bind: portal, statement
		statement, _ := text(rest)
		r.bound[first] = r.prepared[statement]
	case 'E': // execute: portal
		q.texts = append(q.texts, r.bound[first])
	case 'Q': // a text by itself
		q.texts = append(q.texts, first)
		return true
	case 'C', 'D': // close, describe
	default: // sync, flush, sign-in, copied data, end
		return true
	}
	return false
}

// text is the text at the beginning of a message.
func text(body []byte) (string, []byte) {
	said, rest, _ := bytes.Cut(body, []byte{0})
	return strings.TrimSpace(string(said)), rest
}
