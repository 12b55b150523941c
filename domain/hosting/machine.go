package hosting

import (
	"strconv"

	"hostpanel/domain/field"
)

var machines = Kind{
	Name: "vm", Class: "VM", Label: "vm", Backend: Compute, CanBeDisabled: true,
	Unique: []string{"name"}, NamedBy: []string{"name"}, Shape: shapeMachine, Writers: Superuser, New: spec[Machine],
}

// shapeMachine gives a machine our reference at the hypervisor, which is its tag.
func shapeMachine(_ int64, o *EngineObject) { o.Ref = text(o.Values, "tag") }

// A Machine is a virtual server as it was bought; [VM] is what the hypervisor
// makes of it.
type Machine struct {
	Name      string // "vm77"
	Tag       string // the order's id, by which it is found again
	Cores     int64
	MemoryMB  int64
	DiskGB    int64
	TrafficTB int64
	OS        string
	Address   string // empty until it has one
}

// MachineName is the name of a machine at the hypervisor: "vm77".
func MachineName(id int64) string { return "vm" + strconv.FormatInt(id, 10) }

func (m *Machine) Fields() field.Set {
	return field.Set{
		field.Text("name", &m.Name).Required().Is(field.Username).Once(),
		field.Text("tag", &m.Tag).Default("").Once(),
		field.Int("cores", &m.Cores).Required().Between(1, 128),
		field.Int("memory_mb", &m.MemoryMB).Required().Between(128, 1048576),
		field.Int("disk_gb", &m.DiskGB).Required().Between(1, 65536),
		field.Int("traffic_tb", &m.TrafficTB).Default(1).Between(0, 10000).Doc("A month."),
		field.Text("os", &m.OS).Required().Max(64),
		field.Text("address", &m.Address).ReadOnly(),
	}
}

// VM is the machine as the hypervisor is asked to make it.
func (m *Machine) VM() VM {
	return VM{
		Name: m.Name, Tag: m.Tag, Cores: m.Cores, MemoryMB: m.MemoryMB,
		DiskGB: m.DiskGB, TrafficTB: m.TrafficTB, OS: m.OS,
	}
}
