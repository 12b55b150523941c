package proxmox

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"hostpanel/domain/compute"
)

// readers is how many machines of a list are read at once.
const readers = 8

// Find implements [compute.Hypervisor]. What Proxmox is making or deleting under the
// machine's number has no mark, and a clone may not have begun to write. Both are found as a
// part: a creation and a removal wait for their end, and then look whose it is.
func (h *Hypervisor) Find(ctx context.Context, m compute.Machine) (compute.Seen, bool, error) {
	v, all, err := h.find(ctx, "", m)
	switch {
	case codeOf(err) == "moving" && v != nil:
		return v.part(m), true, nil
	case err != nil:
		return compute.Seen{}, false, err
	case v == nil:
		return h.findClone(ctx, all, m)
	}
	seen := v.seen()
	if found := h.reported(ctx, v); len(found) > 0 {
		seen.Addresses = found
	}
	return seen, true, nil
}

// findClone looks for a clone of which there is nothing but its task.
func (h *Hypervisor) findClone(ctx context.Context, all []entry, m compute.Machine) (compute.Seen, bool, error) {
	id, err := h.number("", m)
	if err != nil {
		return compute.Seen{}, false, err
	}
	from, err := h.settings.template(m.Template, m.Host, all)
	if err != nil {
		return compute.Seen{}, false, nil //nolint:nilerr // without its template there is no clone
	}
	is, err := h.tasks.isCloning(ctx, from.Node, id)
	if err != nil || !is {
		return compute.Seen{}, false, err
	}
	return (&vm{id: id, node: from.Node}).part(m), true, nil
}

// find looks for a machine: the one with its number, and those with its name or its host
// name, which have it when the range was moved. Of these the one with its id is returned,
// else one of a stranger. The second result is what the cluster has.
func (h *Hypervisor) find(ctx context.Context, external string, m compute.Machine) (*vm, []entry, error) {
	id, err := h.number(external, m)
	if err != nil {
		return nil, nil, err
	}
	all, err := h.resources(ctx, "vm")
	if err != nil {
		return nil, nil, err
	}
	var found, stranger *vm
	for _, e := range all {
		if !couldBe(e, id, m) {
			continue
		}
		v, err := h.readEntry(ctx, e)
		switch {
		case codeOf(err) == "absent": // it was deleted meanwhile
		case err != nil && (e.id() == id || codeOf(err) != "moving"):
			return v, all, err
		case err != nil: // of another number: not ours to wait for
		case v.ours && v.mark.Machine == m.ID && found != nil:
			return nil, nil, permanentf("ambiguous", "machines %d and %d have the id %s", found.id, v.id, m.ID)
		case v.ours && v.mark.Machine == m.ID:
			found = v
		case e.id() == id || v.seen().Name == m.Name: // a host name is no name
			stranger = v
		}
	}
	return cmp.Or(found, stranger), all, nil
}

// couldBe tells whether a machine has to be read to know that it is another one.
func couldBe(e entry, id int64, m compute.Machine) bool {
	return !e.isTemplate() && (e.id() == id || e.Name == m.Name || m.Hostname != "" && e.Name == m.Hostname)
}

// readEntry reads a machine. A container has the number of a machine, and none of its settings.
func (h *Hypervisor) readEntry(ctx context.Context, e entry) (*vm, error) {
	if e.Type != "qemu" {
		return &vm{id: e.id(), node: e.Node, status: status{Name: e.Name, Status: e.Status}}, nil
	}
	return h.read(ctx, e.Node, e.id())
}

// own is the machine that a call is about. Another one with its number stays as it is.
func (h *Hypervisor) own(ctx context.Context, external string, m compute.Machine) (*vm, error) {
	v, _, err := h.find(ctx, external, m)
	switch {
	case err != nil:
		return v, err
	case v == nil:
		return nil, permanent("absent", "there is no machine "+m.Name)
	case !v.ours || v.mark.Machine != m.ID:
		return v, permanentf("drift", "machine %d is not %s", v.id, m.ID)
	}
	return v, nil
}

// reported are the addresses that the guest's agent tells, without those of its own links.
func (h *Hypervisor) reported(ctx context.Context, v *vm) (all []netip.Addr) {
	if !v.running() || v.status.Agent != "1" {
		return nil
	}
	var answer struct {
		Result []struct {
			MAC       string `json:"hardware-address"`
			Addresses []struct {
				IP string `json:"ip-address"`
			} `json:"ip-addresses"`
		} `json:"result"`
	}
	if h.api.get(ctx, v.path()+"/agent/network-get-interfaces", nil, &answer) != nil {
		return nil // no agent in the guest, or no privilege: what was given counts
	}
	for _, card := range answer.Result {
		if !strings.EqualFold(card.MAC, readProperties(v.now["net0"])["virtio"]) {
			continue
		}
		for _, a := range card.Addresses {
			if ip, err := netip.ParseAddr(a.IP); err == nil && ip.IsGlobalUnicast() {
				all = append(all, ip)
			}
		}
	}
	return all
}

// List implements [compute.Hypervisor]. Machines outside of the panel's range are strangers
// by their number and are not read one by one.
func (h *Hypervisor) List(ctx context.Context) ([]compute.Seen, error) {
	all, err := h.resources(ctx, "vm")
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return e.isTemplate() || e.Type != "qemu" })
	now, err := h.statuses(ctx, all)
	if err != nil {
		return nil, err
	}
	seen := make([]compute.Seen, len(all))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, e := range all {
		group.Go(func() (err error) {
			seen[i], err = h.seenEntry(ctx, e, now[e.id()])
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	seen = slices.DeleteFunc(seen, func(s compute.Seen) bool { return s.External == "" })
	slices.SortFunc(seen, func(a, b compute.Seen) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.External, b.External))
	})
	return seen, nil
}

// statuses are those of all machines, with a call for each node. The cluster's own table is
// some seconds old.
func (h *Hypervisor) statuses(ctx context.Context, all []entry) (map[int64]status, error) {
	now, asked := map[int64]status{}, map[string]bool{}
	for _, e := range all {
		if asked[e.Node] {
			continue
		}
		asked[e.Node] = true
		var rows []struct {
			Number text `json:"vmid"`
			status
		}
		if err := h.api.get(ctx, nodePath(e.Node)+"/qemu", nil, &rows); err != nil {
			return nil, err
		}
		for _, row := range rows {
			now[whole(string(row.Number))] = row.status
		}
	}
	return now, nil
}

func (h *Hypervisor) seenEntry(ctx context.Context, e entry, now status) (compute.Seen, error) {
	now.Name, now.Status = cmp.Or(now.Name, e.Name), cmp.Or(now.Status, e.Status)
	v := &vm{id: e.id(), node: e.Node, status: now}
	if e.id() < h.settings.FirstID {
		return v.seen(), nil
	}
	err := h.readConfig(ctx, v)
	if codeOf(err) == "absent" {
		return compute.Seen{}, nil
	}
	seen := v.seen()
	if err == nil && v.isUnmarked() {
		seen.Name, seen.Partial = h.name(v.id), true
	}
	return seen, err
}
