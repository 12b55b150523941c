package protocol_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"hostpanel/adapters/postgres/protocol"
)

// A client signs in, prepares a statement, executes it twice in one question, and asks by
// a text.
func TestAQuestionTellsWhatItExecutes(t *testing.T) {
	var sent []byte
	say := func(messages ...pgproto3.FrontendMessage) {
		for _, m := range messages {
			var err error
			if sent, err = m.Encode(sent); err != nil {
				t.Fatal(err)
			}
		}
	}
	say(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersionNumber, Parameters: map[string]string{"user": "ana"}})
	say(&pgproto3.PasswordMessage{Password: "secret"})
	say(&pgproto3.Parse{Name: "one", Query: " select $1::int "}, &pgproto3.Describe{ObjectType: 'S', Name: "one"}, &pgproto3.Sync{})
	run := []pgproto3.FrontendMessage{&pgproto3.Bind{PreparedStatement: "one", Parameters: [][]byte{[]byte("1")}}, &pgproto3.Execute{}}
	say(append(append(run, run...), &pgproto3.Sync{})...)
	say(&pgproto3.Query{String: "-- ping"})
	say(&pgproto3.Terminate{})
	want := [][]string{nil, nil, nil, {"select $1::int", "select $1::int"}, {"-- ping"}, nil}
	var passed []byte
	questions := protocol.NewQuestions(bytes.NewReader(sent))
	for i, statements := range want {
		q, err := questions.Next()
		if err != nil || !slices.Equal(q.Statements, statements) {
			t.Errorf("question %d: %q, want %q (%v)", i, q.Statements, statements, err)
		}
		passed = append(passed, q.Sent...)
	}
	if _, err := questions.Next(); !errors.Is(err, io.EOF) || !bytes.Equal(passed, sent) {
		t.Errorf("%v; %d of %d bytes are passed on", err, len(passed), len(sent))
	}
}
