package eventstoretest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A session is a process of Postgres, which is handed on to a later client that signs in
// with the same message: what it has read of the schema, prepared and planned stays there.
type session struct {
	net.Conn
	began    string // the message with which its first client signed in
	greeting greeting
	prepared map[string]bool // names of statements that clients before have prepared
}

// A greeting is what Postgres says once a client has signed in, up to where the client may ask.
type greeting struct {
	said []byte // the messages from "signed in" on
	part []byte // of a message that is not read as a whole
	over bool
}

// note reads what Postgres said to the first client.
func (g *greeting) note(read []byte) {
	g.part = append(g.part, read...)
	for !g.over {
		message, rest, whole := cutMessage(g.part)
		if !whole {
			return
		}
		signedIn := message[0] == 'R' && binary.BigEndian.Uint32(message[5:]) == pgproto3.AuthTypeOk
		if signedIn || len(g.said) > 0 {
			g.said = append(g.said, message...)
		}
		g.part, g.over = rest, message[0] == 'Z' && len(g.said) > 0
	}
}

// cutMessage cuts the first message from the rest. A message has a type, a length that
// counts itself, and a body.
func cutMessage(sent []byte) (message, rest []byte, whole bool) {
	if len(sent) < 5 {
		return nil, sent, false
	}
	end := 1 + int(binary.BigEndian.Uint32(sent[1:]))
	if len(sent) < end {
		return nil, sent, false
	}
	return sent[:end], sent[end:], true
}

// preparesLess asks for an empty statement in place of one that the session has: the
// answers are the same. The name of such a statement is made of its text.
func (s *session) preparesLess(sent []byte) []byte {
	if len(s.prepared) == 0 {
		return sent
	}
	var less []byte
	for rest := sent; len(rest) > 0; {
		message, after, whole := cutMessage(rest)
		if !whole {
			return sent
		}
		rest = after
		body := message[5:]
		switch name, _, _ := bytes.Cut(body, []byte{0}); {
		case message[0] == 'P' && s.prepared[string(name)]:
			message, _ = (&pgproto3.Parse{}).Encode(nil)
		case message[0] == 'C' && len(name) > 0 && name[0] == 'S': // close: a statement
			delete(s.prepared, string(name[1:]))
		case message[0] == 'Q' && bytes.EqualFold(name, []byte("deallocate all")):
			clear(s.prepared)
		}
		less = append(less, message...)
	}
	return less
}

// settles puts a session back to how it began, but keeps what it has prepared.
const settles = `rollback; close all; unlisten *; select pg_advisory_unlock_all(); reset all; reset role;
	discard temp; discard sequences; select name as settled from pg_prepared_statements union all select ''`

// settle makes a session ready for the next client. An error means that it is of no use.
func (s *session) settle() error {
	if err := s.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	client := pgproto3.NewFrontend(s.Conn, s.Conn)
	client.SendQuery(&pgproto3.Query{String: settles})
	if err := client.Flush(); err != nil {
		return err
	}
	s.prepared = map[string]bool{}
	var refused error
	for names, settled := false, false; ; {
		answer, err := client.Receive()
		if err != nil {
			return err
		}
		switch m := answer.(type) {
		case *pgproto3.RowDescription:
			names = string(m.Fields[0].Name) == "settled"
		case *pgproto3.DataRow:
			if !names {
				continue
			}
			settled = true
			if name := string(m.Values[0]); strings.HasPrefix(name, "stmtcache_") {
				s.prepared[name] = true
			} else if name != "" {
				refused = fmt.Errorf("a statement is left whose name is not made of its text: %s", name)
			}
		case *pgproto3.ErrorResponse:
			refused = fmt.Errorf("settle a session: %s", m.Message)
		case *pgproto3.ReadyForQuery: // an earlier one answers what the client did not wait for
			if settled || refused != nil {
				return errors.Join(refused, s.SetDeadline(time.Time{}))
			}
		}
	}
}
