package libvirt_test

import (
	"testing"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain"
)

// Over TLS both sides have certificates of one authority. Screens have no way there.
func TestAHypervisorIsReachedOverTLS(t *testing.T) {
	server, address, stranger := libvirttest.StartWithTLS(t)
	server.EmptyTemplate(t, "empty.qcow2")
	h, m := open(t, "qemu", "", func(c *libvirt.Config) { c.URL = address }), machine("vm77")
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = h.Screen(t.Context(), external, m)
	fails(t, err, domain.Permanent, "not_supported")
	if err := h.Remove(t.Context(), external, m); err != nil {
		t.Error(err)
	}
	_, err = open(t, "qemu", "", func(c *libvirt.Config) { c.URL = stranger }).List(t.Context())
	fails(t, err, domain.Transient, "unreachable")
}
