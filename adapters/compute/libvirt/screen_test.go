package libvirt_test

import (
	"crypto/des"
	"encoding/binary"
	"io"
	"math/bits"
	"testing"
	"time"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
)

// admits signs in to a screen as RFB 3.8 has it (RFC 6143, 7.2.2).
func admits(t *testing.T, screen io.ReadWriteCloser, password string) bool {
	t.Helper()
	defer func() { _ = screen.Close() }()
	read := func(n int) []byte {
		t.Helper()
		b := make([]byte, n)
		if _, err := io.ReadFull(screen, b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	write := func(b []byte) {
		t.Helper()
		if _, err := screen.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	read(12)
	write([]byte("RFB 003.008\n"))
	if kinds := read(int(read(1)[0])); string(kinds) != "\x02" {
		t.Fatalf("it asks for %v, not for a password alone", kinds)
	}
	write([]byte{2})
	key := make([]byte, 8)
	for i, b := range []byte(password) {
		key[i] = bits.Reverse8(b)
	}
	cipher, err := des.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	answer, challenge := make([]byte, 16), read(16)
	cipher.Encrypt(answer, challenge)
	cipher.Encrypt(answer[8:], challenge[8:])
	write(answer)
	return binary.BigEndian.Uint32(read(4)) == 0
}

// A password opens the screen for a minute, and until there is another one.
func TestAPasswordOpensTheScreenForAMinute(t *testing.T) {
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	now := time.Now()
	h := open(t, "qemu", server.Socket(), func(c *libvirt.Config) { c.Now = func() time.Time { return now } })
	m := machine("vm77")
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	connect := func() (io.ReadWriteCloser, string) {
		t.Helper()
		screen, password, err := h.Screen(t.Context(), external, m)
		if err != nil {
			t.Fatal(err)
		}
		return screen, password
	}
	first, firstPassword := connect()
	second, secondPassword := connect()
	if !admits(t, second, secondPassword) || admits(t, first, firstPassword) {
		t.Error("the last password does not open the screen, or the one before does")
	}
	if screen, _ := connect(); admits(t, screen, "12345678") {
		t.Error("any password opens the screen")
	}
	now = now.Add(-2 * time.Minute) // the password was set two minutes ago
	if screen, password := connect(); admits(t, screen, password) {
		t.Error("a password opens the screen after its minute")
	}
}
