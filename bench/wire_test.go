package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// message is one of Postgres' protocol; the first has no type.
func message(kind, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte(kind), uint32(4+len(body))), body...)
}

func TestStatementsAndTripsAreCounted(t *testing.T) {
	sent := bytes.Join([][]byte{
		message("", "\x00\x03\x00\x00user\x00app\x00\x00"),
		message("p", "password\x00"),
		message("Q", "BEGIN\x00"),
		message("P", "one\x00select 1\x00\x00\x00"), message("D", "Sone\x00"), message("S", ""), // prepared
		message("B", ""), message("E", ""), message("B", ""), message("E", ""), message("S", ""), // a batch of two
		message("Q", "-- ping\x00"),
		message("X", ""),
	}, nil)
	w := wire{own: asked{}}
	var received bytes.Buffer
	if err := w.forward(bytes.NewReader(sent), &received); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if w.statements.Load() != 3 || w.trips.Load() != 2 {
		t.Errorf("%d statements in %d trips", w.statements.Load(), w.trips.Load())
	}
	if !bytes.Equal(received.Bytes(), sent) {
		t.Errorf("the database has received %q", received.Bytes())
	}
}
