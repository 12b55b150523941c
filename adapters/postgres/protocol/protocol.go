// Package protocol reads what clients send to Postgres, so that a proxy can count or
// cut it (docs/benchmarks.md, docs/reliability.md).
package protocol

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"strings"
)

// A Question is what a client sends before it waits for the answer.
type Question struct {
	Sent       []byte
	Statements []string // texts of what it executes
}

// Questions are those of one connection.
type Questions struct {
	from     *bufio.Reader
	begun    bool
	prepared map[string]string // texts by the names of statements
	bound    map[string]string // texts by the names of portals
}

// NewQuestions reads a connection from its beginning. It must not be encrypted.
func NewQuestions(from io.Reader) *Questions {
	return &Questions{from: bufio.NewReader(from), prepared: map[string]string{}, bound: map[string]string{}}
}

// Next reads messages up to one that is answered. A message has a type, a length
// and a body; the first one has no type.
func (r *Questions) Next() (q Question, err error) {
	for {
		kind := byte(0)
		if r.begun {
			if kind, err = r.from.ReadByte(); err != nil {
				return q, err
			}
			q.Sent = append(q.Sent, kind)
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
		q.Sent = append(append(q.Sent, size...), body...)
		if r.ends(kind, body, &q) {
			return q, nil
		}
	}
}

// ends notes what a message says, and tells whether an answer to it is due.
func (r *Questions) ends(kind byte, body []byte, q *Question) bool {
	first, rest := text(body)
	switch kind {
	case 'P': // parse: statement, text
		r.prepared[first], _ = text(rest)
	case 'B': // bind: portal, statement
		statement, _ := text(rest)
		r.bound[first] = r.prepared[statement]
	case 'E': // execute: portal
		q.Statements = append(q.Statements, r.bound[first])
	case 'Q': // a text by itself
		q.Statements = append(q.Statements, first)
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
