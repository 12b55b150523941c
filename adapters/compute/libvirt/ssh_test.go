package libvirt_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain"
)

// Calls and screens of a hypervisor elsewhere go through SSH, to a host whose key is known.
func TestAHypervisorIsReachedOverSSH(t *testing.T) {
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	address := libvirttest.OverSSH(t, "qemu", server.Socket())
	at := func(c *libvirt.Config) { c.URL = address }
	h, m := open(t, "qemu", "", at), machine("vm77")
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	screen, password, err := h.Screen(t.Context(), external, m)
	if err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 8)
	if _, err := io.ReadFull(screen, said); err != nil || string(said) != "RFB 003." || len(password) != 8 {
		t.Errorf("it says %q, %v, with %q", said, err, password)
	}
	if err := screen.Close(); err != nil {
		t.Error(err)
	}
	if err := h.Remove(t.Context(), external, m); err != nil {
		t.Error(err)
	}

	unknown := filepath.Join(t.TempDir(), "known_hosts")
	if err := os.WriteFile(unknown, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(address, "&known_hosts")
	_, query, _ := strings.Cut(address, "&socket=")
	elsewhere := func(c *libvirt.Config) { c.URL = before + "&known_hosts=" + unknown + "&socket=" + query }
	_, err = open(t, "qemu", "", elsewhere).List(t.Context())
	fails(t, err, domain.Transient, "unreachable")
}
