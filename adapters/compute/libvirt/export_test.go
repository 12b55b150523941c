package libvirt

import "context"

// Call takes a connection to libvirt as every call does.
func (h *Hypervisor) Call(ctx context.Context, do func()) error {
	return h.read(ctx, "call", func(*session) error { do(); return nil })
}
