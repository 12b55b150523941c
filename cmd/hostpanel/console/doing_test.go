package console

import (
	"bytes"
	"strings"
	"testing"
)

func TestATerminalShowsWhatAStartDoes(t *testing.T) {
	d := newDesk(t)
	begin, end := d.Doing()
	begin("Fetching PostgreSQL")
	waitFor(t, "Fetching PostgreSQL …", func() bool { return strings.Contains(d.shown.String(), "Fetching PostgreSQL …") })
	begin("Making a database")
	waitFor(t, "Making a database …", func() bool { return strings.Contains(d.shown.String(), "Making a database …") })
	end()
	end() // a start may end twice
	if text := d.shown.String(); strings.Index(text, "Fetching") > strings.Index(text, "Making") {
		t.Errorf("%q", text)
	}
}

func TestALogIsNotToldWhatAStartDoes(t *testing.T) {
	var b bytes.Buffer
	begin, end := Console{Out: &b, Err: &b}.Doing()
	begin("Fetching PostgreSQL")
	end()
	if b.Len() > 0 {
		t.Errorf("%q", b.String())
	}
}
