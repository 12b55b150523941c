package hosting

import (
	"net/netip"
	"strconv"
	"strings"

	"hostpanel/domain/compute"
	"hostpanel/domain/field"
)

var machines = Kind{
	Name: "vm", Class: "VM", Label: "vm", Backend: Compute, CanBeDisabled: true,
	Unique: []string{"name"}, NamedBy: []string{"name"}, Shape: shapeMachine, Writers: Superuser,
	New: func() Spec { return NewMachine(0, "") },
}

// shapeMachine gives a machine our reference at the hypervisor, which is its tag.
func shapeMachine(_ int64, o *EngineObject) { o.Ref = text(o.Values, "tag") }

// A Machine is a virtual server as its owner wants it; [Machine.Wanted] is what the
// hypervisor makes of it.
type Machine struct {
	Name string // at the hypervisor: "vm77"
	Tag  string // the order's id

	Server, Host, Node string // the hypervisor, the host of it, and the record of that; "": the only one
	Bridge             string // of the host; "": the hypervisor's own network
	VLAN               int64
	Addresses          []string // with the length of their network: "192.0.2.7/24"
	Gateways           []string
	NameServers        []string
	RateMbit           int64 // 0: not limited

	Cores     int64
	MemoryMB  int64
	DiskGB    int64
	TrafficTB int64

	OS       string
	Template string // what the node makes its disk of; "": what the system is called
	Snapshot string // what its disk was made of last; "": the template
	Hostname string
	Keys     []string // of SSH
	Password string

	IsOn, IsCut, Rescue bool  // it runs; it is switched off without asking; it starts the rescue system
	Boots, Disks        int64 // how often it was started anew, and its disk made

	Address string // that it has; empty until it has one
}

// NewMachine is the machine of an order, which is to run.
func NewMachine(id int64, order string) *Machine {
	return &Machine{Name: MachineName(id), Tag: order, IsOn: true, Boots: 1, Disks: 1}
}

// MachineName is the name of a machine at the hypervisor: "vm77".
func MachineName(id int64) string { return "vm" + strconv.FormatInt(id, 10) }

// Fields are the machine.
func (m *Machine) Fields() field.Set {
	keys := func(f field.Field) field.Field { return f.Is(sshPublicKey) }
	return field.Set{
		field.Text("name", &m.Name).Required().Is(field.Username).Once(),
		field.Text("tag", &m.Tag).Default("").Once(),
		field.Int("cores", &m.Cores).Required().Between(1, 128),
		field.Int("memory_mb", &m.MemoryMB).Required().Between(128, 1048576),
		field.Int("disk_gb", &m.DiskGB).Required().Between(1, 65536),
		field.Int("traffic_tb", &m.TrafficTB).Default(1).Between(0, 10000).Doc("A month."),
		field.Text("os", &m.OS).Required().Max(64),
		field.Text("hostname", &m.Hostname).Is(field.Domain).Default("").Doc("It counts when the system is installed."),
		field.Texts("ssh_keys", &m.Keys, keys).Max(20).Doc("Of those who may sign in as root. They count when the system is installed."),
		field.Password("root_password", &m.Password),
		field.Flag("is_on", &m.IsOn).Default(true),
		field.Flag("is_cut", &m.IsCut).ReadOnly().Doc("Whether it is switched off without being asked to shut down."),
		field.Flag("rescue", &m.Rescue).ReadOnly(),
		field.Int("boots", &m.Boots).ReadOnly(),
		field.Int("disks", &m.Disks).ReadOnly(),
		field.Text("template", &m.Template).ReadOnly(),
		field.Text("snapshot", &m.Snapshot).ReadOnly(),
		field.Text("server", &m.Server).ReadOnly(),
		field.Text("host", &m.Host).ReadOnly(),
		field.Text("node", &m.Node).ReadOnly(),
		field.Text("bridge", &m.Bridge).ReadOnly(),
		field.Int("vlan", &m.VLAN).ReadOnly(),
		field.Texts("addresses", &m.Addresses, nil).ReadOnly(),
		field.Texts("gateways", &m.Gateways, nil).ReadOnly(),
		field.Texts("name_servers", &m.NameServers, nil).ReadOnly(),
		field.Int("rate_mbit", &m.RateMbit).ReadOnly(),
		field.Text("address", &m.Address).ReadOnly(),
	}
}

// Wanted is the machine as the hypervisor is asked to have it. On is whether it may run;
// version is that of the request.
func (m *Machine) Wanted(installation string, version int, on bool, password string) compute.Machine {
	template := m.Template
	if template == "" {
		template = m.OS
	}
	return compute.Machine{
		ID: compute.ID(installation, m.Tag), Name: m.Name, Service: m.Tag, Generation: int64(version), Host: m.Host,
		Cores: m.Cores, MemoryMB: m.MemoryMB, DiskGB: m.DiskGB,
		On: m.IsOn && on, Soft: !m.IsCut, Boot: m.Boots, Rescue: m.Rescue,
		Disk: m.Disks, Template: template, Snapshot: m.Snapshot,
		Hostname: m.hostname(), Keys: m.Keys, Password: password,
		Network: compute.Network{
			Bridge: m.Bridge, VLAN: m.VLAN, RateMbit: m.RateMbit,
			Addresses: parsed(m.Addresses, netip.ParsePrefix), Gateways: parsed(m.Gateways, netip.ParseAddr),
			NameServers: parsed(m.NameServers, netip.ParseAddr),
		},
	}
}

// hostname is what the system is called: as ordered, or as the machine.
func (m *Machine) hostname() string {
	if m.Hostname != "" {
		return strings.ToLower(m.Hostname)
	}
	return m.Name
}

// parsed are the texts that can be read; what the panel has recorded can.
func parsed[T any](texts []string, parse func(string) (T, error)) (all []T) {
	for _, text := range texts {
		if one, err := parse(text); err == nil {
			all = append(all, one)
		}
	}
	return all
}

// VM is the machine as the hypervisor is asked to make it.
func (m *Machine) VM() VM {
	return VM{
		Name: m.Name, Tag: m.Tag, Cores: m.Cores, MemoryMB: m.MemoryMB,
		DiskGB: m.DiskGB, TrafficTB: m.TrafficTB, OS: m.OS,
	}
}
