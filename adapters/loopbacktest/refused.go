// Package loopbacktest has addresses of this machine for tests (CONTRIBUTING, "Tests").
package loopbacktest

import (
	"errors"
	"net"
	"testing"
)

// Refused returns an address ("127.0.0.1:40123") that refuses connections until the test
// ends. A client's socket keeps the port meanwhile: one that is merely closed may go to
// the next listener of the machine.
func Refused(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(errors.Join(err, l.Close()))
	}
	t.Cleanup(func() { _ = errors.Join(client.Close(), l.Close()) })
	return client.LocalAddr().String()
}
