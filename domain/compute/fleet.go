package compute

import (
	"fmt"
	"slices"

	"hostpanel/domain"
)

// A Fleet is all hypervisors that the panel works with.
type Fleet []Hypervisor

// Of is the hypervisor with a name; "" is the first one. One that is not configured is a
// permanent failure, "no_server".
func (f Fleet) Of(server string) (Hypervisor, error) {
	if server == "" && len(f) > 0 {
		return f[0], nil
	}
	i := slices.IndexFunc(f, func(h Hypervisor) bool { return h.Server() == server })
	if i < 0 {
		return nil, domain.Fail(domain.Permanent, "no_server", fmt.Errorf("no hypervisor is called %q", server))
	}
	return f[i], nil
}

// Queue is where steps wait that call a hypervisor: "compute:<server>".
func (f Fleet) Queue(server string) string {
	if server == "" && len(f) > 0 {
		server = f[0].Server()
	}
	return "compute:" + server
}

// HasRoom tells whether one of the hosts has room for a machine.
func HasRoom(hosts []Host, m Machine) bool {
	return slices.ContainsFunc(hosts, func(h Host) bool {
		return h.Down == "" && (m.Host == "" || m.Host == h.Name) && h.FreeMB >= m.MemoryMB && h.FreeGB >= m.DiskGB
	})
}
