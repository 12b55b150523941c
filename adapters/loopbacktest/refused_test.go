package loopbacktest_test

import (
	"errors"
	"net"
	"syscall"
	"testing"

	"hostpanel/adapters/loopbacktest"
)

func TestNobodyListensAtARefusedAddress(t *testing.T) {
	address := loopbacktest.Refused(t)
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("a call answers %v", err)
	}
	if _, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a listener gets %v", err)
	}
}
