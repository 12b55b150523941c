package hosting

import (
	"slices"
	"strings"

	"hostpanel/domain/field"
)

var nodes = Kind{
	Name: "node", Class: "Node", Label: "node", Collection: "nodes", Backend: Local, Shared: true, Hidden: true,
	Nouns:  map[string]string{"en": "node", "es": "nodo"},
	Shown:  words("id name server host cores memory_mb disk_gb weight is_drained templates created_at updated_at"),
	Unique: []string{"name"}, Filters: []string{"name", "server", "is_drained"}, Search: []string{"name", "host"},
	Ordering: []string{"name"},
	Called:   "name", InUse: "The node has machines.", Verbs: All, Writers: Superuser, New: spec[Node],
}

// NodeKind is the kind of nodes.
var NodeKind = nodes.Name

// A Node is what machines are placed on: a host of a hypervisor, with what may be sold there
// (docs/machines-stock.md).
type Node struct {
	Name      string
	Server    string // one of the settings; "": the first
	Host      string // of that server, which may be a cluster; "": its only one
	Cores     int64
	MemoryMB  int64
	DiskGB    int64
	Weight    int64
	IsDrained bool
	Templates []string // "debian-12=debian-12.qcow2"
}

// Fields are the node.
func (n *Node) Fields() field.Set {
	return field.Set{
		field.Text("name", &n.Name).Required().Max(64).Is(field.Slug).Once(),
		field.Text("server", &n.Server).Is(hostName).Default("").Once().Doc("A hypervisor of the settings; the first one when absent."),
		field.Text("host", &n.Host).Is(hostName).Default("").Once().Doc("Of the server's hosts; its only one when absent."),
		field.Int("cores", &n.Cores).Required().Between(0, 1<<20).Doc("That may be sold, as memory_mb and disk_gb."),
		field.Int("memory_mb", &n.MemoryMB).Required().Between(0, 1<<40),
		field.Int("disk_gb", &n.DiskGB).Required().Between(0, 1<<40),
		field.Int("weight", &n.Weight).Default(100).Between(1, 1000).Doc("Percent. The share that is free counts as much."),
		field.Flag("is_drained", &n.IsDrained).Default(false).Doc("No machine is placed here any more."),
		field.Texts("templates", &n.Templates, func(f field.Field) field.Field { return f.Is(systemTemplate) }).Max(100).
			Default([]string{}).Doc(`Systems that it has, such as "debian-12=debian-12.qcow2".`),
	}
}

// hostName is what a hypervisor or a host is called.
var hostName = withMost(field.Match(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`), 64)

// systemTemplate is the template of one system.
var systemTemplate = withMost(field.Match(`^[^=\s]{1,64}=[^=\s/][^=\s]*$`).Saying(
	`Enter a system and its template, such as "debian-12=debian-12.qcow2".`), 255)

func withMost(r field.Rule, n int64) field.Rule { r.Max = n; return r }

func (n *Node) check(_ Place, wrong *field.Errors) {
	if wrong.Has("templates") {
		return
	}
	var known []string
	for _, line := range n.Templates {
		system, _, _ := strings.Cut(line, "=")
		if slices.Contains(known, system) {
			wrong.Add("templates", system+" has two templates.")
		}
		known = append(known, system)
	}
}

// Template is what the disk of a machine with a system is a copy of; "": the node has none.
func (n *Node) Template(system string) string {
	for _, line := range n.Templates {
		if of, template, _ := strings.Cut(line, "="); of == system {
			return template
		}
	}
	return ""
}
