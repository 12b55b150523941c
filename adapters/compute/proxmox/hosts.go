package proxmox

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Hosts implements [compute.Hypervisor].
func (h *Hypervisor) Hosts(ctx context.Context) (hosts []compute.Host, err error) {
	all, err := h.resources(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Type != "node" {
			continue
		}
		if e.Status == "online" && e.Cores == "" {
			return nil, denied("Sys.Audit", errors.New("proxmox: the size of the node "+e.Node+" is not told"))
		}
		hosts = append(hosts, h.settings.host(e, all))
	}
	slices.SortFunc(hosts, func(a, b compute.Host) int { return cmp.Compare(a.Name, b.Name) })
	return hosts, nil
}

func (s Settings) host(node entry, all []entry) compute.Host {
	host := compute.Host{
		Name: node.Node, Cores: whole(string(node.Cores)), MemoryMB: whole(string(node.Memory)) >> 20,
		Templates: s.templatesAt(node.Node, all), Down: down(node),
	}
	host.FreeMB = max(0, host.MemoryMB-promisedMB(node.Node, all))
	storage, has := s.storageAt(node.Node, all)
	if host.Down == "" && (!has || storage.Status != "available") {
		host.Down = "the storage " + s.Storage + " is not available"
	}
	host.DiskGB = whole(string(storage.DiskMax)) >> 30
	host.FreeGB = (whole(string(storage.DiskMax)) - whole(string(storage.DiskUsed))) >> 30
	return host
}

// promisedMB is the memory of all machines of a node, also of those that are off.
func promisedMB(node string, all []entry) (sum int64) {
	for _, e := range all {
		if e.Node == node {
			sum += e.promisedMB()
		}
	}
	return sum
}

// promisedMB is the memory that a guest may take, also one that is off.
func (e entry) promisedMB() int64 {
	if isGuest := e.Type == "qemu" || e.Type == "lxc"; !isGuest || e.isTemplate() {
		return 0
	}
	return whole(string(e.Memory)) >> 20
}

func down(node entry) string {
	switch {
	case node.Status != "online":
		return "the node is " + node.Status
	case node.HA == "maintenance":
		return "the node is in maintenance"
	}
	return ""
}

func (s Settings) storageAt(node string, all []entry) (entry, bool) {
	i := slices.IndexFunc(all, func(e entry) bool { return e.Type == "storage" && e.Node == node && e.Storage == s.Storage })
	if i < 0 {
		return entry{}, false
	}
	return all[i], true
}

// templatesAt are the names of the templates that a machine of a node can be a copy of: the
// node's own, and those of others when the storage is shared.
func (s Settings) templatesAt(node string, all []entry) []string {
	names := map[string]bool{}
	storage, _ := s.storageAt(node, all)
	for _, e := range all {
		if e.isTemplate() && (e.Node == node || storage.Shared == "1") {
			for _, name := range s.namesOf(e) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// namesOf are the panel's names of a template.
func (s Settings) namesOf(e entry) (names []string) {
	if len(s.Templates) == 0 {
		return []string{e.Name}
	}
	for name, is := range s.Templates {
		if is == e.Name || is == string(e.Number) {
			names = append(names, name)
		}
	}
	return names
}

// template is the one that a machine of a node is a copy of: of the node itself, else of
// another one, from which Proxmox copies only on shared storage. A node that was just
// started does not tell names yet.
func (s Settings) template(name, node string, all []entry) (entry, error) {
	var elsewhere *entry
	told := true
	for _, e := range all {
		told = told && (e.Type != "qemu" || e.Name != "")
		if e.Type != "qemu" || !e.isTemplate() && e.Name != "" || !slices.Contains(s.namesOf(e), name) {
			continue
		}
		if e.Node == node || node == "" && e.Status != "unknown" { // as of a node that is away
			return e, nil
		}
		elsewhere = &e
	}
	switch {
	case elsewhere != nil:
		return *elsewhere, nil
	case !told:
		return entry{}, domain.Fail(domain.Transient, "not_told", errors.New("proxmox: the names of some machines are not told"))
	}
	return entry{}, permanent("no_template", "there is no template "+name)
}
