package paneltest

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
)

// Machined lets a tenant have a virtual server of a service. No hypervisor knows it.
func (s *Shop) Machined(t testing.TB, tenant int64, service uuid.UUID) {
	t.Helper()
	id := 990 + tenant
	vm := hosting.Machine{Name: hosting.MachineName(id), Tag: service.String(), Cores: 2, MemoryMB: 2048, DiskGB: 40, TrafficTB: 1, OS: "debian-12"}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "vm", ID: id}, Tenant: tenant, Spec: vm.Fields().Values(), For: "order:" + service.String()})
}
