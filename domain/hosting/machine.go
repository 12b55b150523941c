package hosting

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/compute"
	"hostpanel/domain/field"
)

// MachineKind is the kind of virtual servers.
const MachineKind = "vm"

var machines = Kind{
	Name: MachineKind, Class: "VM", Label: "vm", Collection: "vms", Backend: Compute, CanBeDisabled: true,
	Nouns:   map[string]string{"en": "virtual server", "es": "servidor virtual"},
	Plurals: map[string]string{"en": "Virtual servers", "es": "Servidores virtuales"},
	Shown: words("id tenant tenant_name name uuid hostname os cores memory_mb disk_gb traffic_tb address addresses ssh_keys is_on rescue " +
		"boots disks max_snapshots at_reinstall sync_status sync_error created_at updated_at"),
	Unique: []string{"name"}, NamedBy: []string{"name"}, Shape: shapeMachine, Filters: []string{"name", "hostname", "os"},
	Search: []string{"name", "hostname"}, Ordering: []string{"name", "hostname"}, Called: "name",
	Shows: "root_password", Acts: MachineActs, Verbs: Patch, Writers: Member,
	New: func() Spec { return NewMachine(0, "") },
}

// shapeMachine gives a machine our reference at the hypervisor, which is its tag.
func shapeMachine(_ int64, o *EngineObject) { o.Ref = text(o.Values, "tag") }

// A Machine is a virtual server as its owner wants it; [Machine.Wanted] is what the
// hypervisor makes of it.
type Machine struct {
	Name string // at the hypervisor: "vm77"
	Tag  string // the order's id
	UUID string // that the system of the machine knows; empty until the hypervisor has told it

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
	Password string   // of root, as it was set when the system was installed

	IsOn, IsCut, Rescue bool  // it runs; it is switched off without asking; it starts the rescue system
	Boots, Disks        int64 // how often it was started anew, and its disk made

	MadeBoots, MadeDisks int64 // those that the hypervisor showed last; 0: not told

	DiskHostname string // with which its disk was made
	DiskKeys     []string

	MaxSnapshots int64 // that there may be

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
	return field.Set{
		field.Text("name", &m.Name).ReadOnly().Doc("That of the hypervisor."),
		field.Text("tag", &m.Tag).ReadOnly(),
		field.Text("uuid", &m.UUID).ReadOnly().Doc("That its system knows it by. Blank until the hypervisor has told it."),
		field.Int("cores", &m.Cores).ReadOnly(),
		field.Int("memory_mb", &m.MemoryMB).ReadOnly(),
		field.Int("disk_gb", &m.DiskGB).ReadOnly(),
		field.Int("traffic_tb", &m.TrafficTB).ReadOnly().Doc("A month."),
		system(&m.OS).ReadOnly().Doc("A reinstallation may choose another one."),
		hostname(&m.Hostname).Default(""),
		sshKeys(&m.Keys),
		rootPassword(&m.Password).ReadOnly(),
		field.Flag("is_on", &m.IsOn).ReadOnly().Doc("Whether it is to run."),
		field.Flag("is_cut", &m.IsCut).ReadOnly().Doc("Whether it is switched off without being asked to shut down."),
		field.Flag("rescue", &m.Rescue).ReadOnly().Doc("Whether it starts the rescue system."),
		field.Int("boots", &m.Boots).ReadOnly().Doc("How often it was started anew."),
		field.Int("disks", &m.Disks).ReadOnly().Doc("How often its disk was made."),
		field.Int("made_boots", &m.MadeBoots).ReadOnly(),
		field.Int("made_disks", &m.MadeDisks).ReadOnly(),
		field.Int("max_snapshots", &m.MaxSnapshots).ReadOnly().Doc("How many snapshots there may be."),
		field.Text("disk_hostname", &m.DiskHostname).ReadOnly(),
		field.Texts("disk_ssh_keys", &m.DiskKeys, nil).ReadOnly(),
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
		field.Text("address", &m.Address).ReadOnly().Doc("The one that the hypervisor told last."),
	}
}

// The fields that count when the system is installed.

func system(at *string) field.Field { return field.Text("os", at).Max(64) }

func hostname(at *string) field.Field {
	return field.Text("hostname", at).Is(field.Domain).Doc("It counts when a system is installed.")
}

func sshKeys(at *[]string) field.Field {
	return field.Texts("ssh_keys", at, func(f field.Field) field.Field { return f.Is(sshPublicKey) }).Max(20).
		Doc("Of those who may sign in as root. They count when a system is installed.")
}

// hashable passwords are hashed whole: bcrypt, which systems know, takes 72 bytes.
var hashable = field.Rule{Message: "Ensure this password has no more than 72 bytes.", Holds: func(s string) bool { return len(s) <= 72 }}

func rootPassword(at *string) field.Field {
	return field.Password("root_password", at).Is(hashable).Doc("It counts when a system is installed.")
}

// derived are the fields whose change waits for the next installation.
func (m *Machine) derived(time.Time, bool) field.Set {
	var waiting []string
	if m.Hostname != m.DiskHostname {
		waiting = append(waiting, "hostname")
	}
	if !slices.Equal(m.Keys, m.DiskKeys) {
		waiting = append(waiting, "ssh_keys")
	}
	return field.Set{
		field.Texts("at_reinstall", &waiting, nil).ReadOnly().Doc("The fields whose change counts with the next installation."),
	}
}

// complete takes the comments off the keys, which often name a person.
func (m *Machine) complete(Place) {
	for i, key := range m.Keys {
		if parts := strings.Fields(key); len(parts) > 2 {
			m.Keys[i] = parts[0] + " " + parts[1]
		}
	}
}

// Settle notes with what the disk of a new machine is made.
func (m *Machine) Settle() { m.DiskHostname, m.DiskKeys = m.Hostname, slices.Clone(m.Keys) }

// Reached are the addresses under which the machine is reached.
func (m *Machine) Reached() (all []string) {
	for _, address := range m.Addresses {
		alone, _, _ := strings.Cut(address, "/")
		all = append(all, alone)
	}
	if len(all) == 0 && m.Address != "" {
		all = []string{m.Address}
	}
	return all
}

// Locked tells whether neither a key nor a password lets in who owns the machine.
func (m *Machine) Locked() bool { return len(m.Keys) == 0 && m.Password == "" }

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
		Hostname: m.HostName(), Keys: m.Keys, Password: password,
		Network: compute.Network{
			Bridge: m.Bridge, VLAN: m.VLAN, RateMbit: m.RateMbit,
			Addresses: parsed(m.Addresses, netip.ParsePrefix), Gateways: parsed(m.Gateways, netip.ParseAddr),
			NameServers: parsed(m.NameServers, netip.ParseAddr),
		},
	}
}

// HostName is what the system is called: as its owner wants it, or as the machine.
func (m *Machine) HostName() string {
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
