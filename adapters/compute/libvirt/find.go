package libvirt

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"

	rpc "github.com/digitalocean/go-libvirt"
	"github.com/google/uuid"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

// A guest is a domain as it is defined, and as it runs.
type guest struct {
	rpc.Domain

	defined *libvirtxml.Domain // as with its next start
	live    *libvirtxml.Domain // nil: it is off
	mark    mark               // of the definition
	runs    mark               // as which it runs
	asked   shutdown           // that it was asked for
	partial bool               // it is to run, and has not been started yet
}

func (g *guest) running() bool { return g.live != nil }

func (g *guest) id() uuid.UUID { return uuid.UUID(g.UUID) }

// lookup returns the domain with an id; nil: there is none.
func (s *session) lookup(id uuid.UUID) (*guest, error) {
	d, err := s.DomainLookupByUUID(rpc.UUID(id))
	if is(err, rpc.ErrNoDomain) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.guest(d)
}

// named returns the domain with a name; nil: there is none.
func (s *session) named(name string) (*guest, error) {
	d, err := s.DomainLookupByName(name)
	if is(err, rpc.ErrNoDomain) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.guest(d)
}

// guest reads a domain. One that goes away meanwhile is nil.
func (s *session) guest(d rpc.Domain) (g *guest, err error) {
	g = &guest{Domain: d}
	if g.defined, err = s.description(d, rpc.DomainXMLInactive); err == nil && d.ID >= 0 {
		g.live, err = s.description(d, 0)
	}
	if is(err, rpc.ErrNoDomain) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if g.live != nil && g.live.ID == nil { // it has just gone off
		g.live = nil
	}
	defined, err := noteOf(g.defined)
	if err != nil {
		return nil, err
	}
	live, err := noteOf(g.live)
	g.mark, g.runs, g.asked, g.partial = defined.Mark, live.Mark, live.Shutdown, defined.Creation != nil && g.live == nil
	return g, err
}

func (s *session) description(d rpc.Domain, flags rpc.DomainXMLFlags) (*libvirtxml.Domain, error) {
	text, err := s.DomainGetXMLDesc(d, flags)
	if err != nil {
		return nil, err
	}
	read := new(libvirtxml.Domain)
	if err := read.Unmarshal(text); err != nil {
		return nil, permanent("unreadable", "the description of %q: %w", d.Name, err)
	}
	return read, nil
}

func (h *Hypervisor) isOurs(g *guest) bool { return g.mark.Installation == h.Installation }

// Find looks a machine up by its id, else by its name, else by volumes that a creation has
// left.
func (h *Hypervisor) Find(ctx context.Context, m compute.Machine) (seen compute.Seen, found bool, err error) {
	err = h.read(ctx, "find the machine", func(s *session) error {
		seen, found, err = h.find(s, m)
		return err
	})
	return seen, found && err == nil, err
}

func (h *Hypervisor) find(s *session, m compute.Machine) (seen compute.Seen, found bool, err error) {
	g, err := s.lookup(m.ID)
	if err == nil && g == nil && m.Name != "" {
		g, err = s.named(m.Name)
	}
	if err != nil {
		return seen, false, err
	}
	if g == nil {
		return h.leftover(s, m)
	}
	if seen, err = h.seen(s, g); err != nil {
		return seen, false, err
	}
	if g.running() && !h.target.hollow {
		seen.Addresses = cmpAddresses(s.addresses(g), seen.Addresses)
	}
	return seen, true, nil
}

// leftover is what a creation has left that has not come to a domain.
func (h *Hypervisor) leftover(s *session, m compute.Machine) (seen compute.Seen, found bool, err error) {
	p, err := s.pool(h.Pool)
	if err != nil {
		return seen, false, err
	}
	left, err := s.volumesOf(p, m)
	if err != nil || len(left) == 0 {
		return seen, false, err
	}
	host, err := h.hostName(s)
	return compute.Seen{
		External: m.ID.String(), ID: m.ID, Name: m.Name, Ours: true, Service: m.Service, Host: host, State: compute.Stopped, Partial: true,
	}, true, err
}

// List reads all machines. Their addresses are those that they were given.
func (h *Hypervisor) List(ctx context.Context) (all []compute.Seen, err error) {
	err = h.read(ctx, "list the machines", func(s *session) error {
		all, err = h.list(s)
		return err
	})
	return all, err
}

func (h *Hypervisor) list(s *session) (all []compute.Seen, err error) {
	domains, _, err := s.ConnectListAllDomains(1, rpc.ConnectListDomainsActive|rpc.ConnectListDomainsInactive)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, d := range domains {
		g, err := s.guest(d)
		if err != nil {
			return nil, err
		}
		if g == nil {
			continue
		}
		seen, err := h.seen(s, g)
		if err != nil {
			return nil, err
		}
		ids[shortID(g.id())] = true
		all = append(all, seen)
	}
	partial, err := h.partial(s, ids)
	all = append(all, partial...)
	slices.SortFunc(all, func(a, b compute.Seen) int { return cmp.Compare(a.Name, b.Name) })
	return all, err
}

// partial are machines of which there are volumes alone. Their ids, and whether they are
// ours, is known only to a caller that looks for them.
func (h *Hypervisor) partial(s *session, known map[string]bool) (all []compute.Seen, err error) {
	p, err := s.pool(h.Pool)
	if err != nil {
		return nil, err
	}
	names, err := s.volumes(p)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		of, is := machineOf(name)
		if !is || known[of.id] {
			continue
		}
		known[of.id] = true
		all = append(all, compute.Seen{External: of.name + "." + of.id, Name: of.name, Host: h.host, State: compute.Stopped, Partial: true})
	}
	return all, nil
}

// seen is a domain as the panel sees it.
func (h *Hypervisor) seen(s *session, g *guest) (seen compute.Seen, err error) {
	host, err := h.hostName(s)
	if err != nil {
		return seen, err
	}
	seen = compute.Seen{
		External: g.id().String(), ID: g.id(), Name: g.Name, Host: host, State: g.state(),
		Cores: coresOf(g.defined), MemoryMB: memoryOf(g.defined),
	}
	if !h.isOurs(g) {
		return seen, nil
	}
	seen.Ours, seen.Service, seen.Generation = true, g.mark.Service, g.mark.Generation
	seen.Boot, seen.Disk, seen.Rescue, seen.Addresses = g.mark.Boot, g.mark.Disk, g.mark.Rescue, g.mark.given()
	seen.Partial = g.partial
	if g.running() {
		seen.Boot, seen.Rescue = g.runs.Boot, g.runs.Rescue
	}
	size, err := s.sizeOf(diskPath(g.defined))
	seen.DiskGB = int64(size >> 30)
	return seen, err
}

func (g *guest) state() compute.State {
	switch {
	case !g.running():
		return compute.Stopped
	case g.asked.Since != "":
		return compute.Moving
	}
	return compute.Running
}

func coresOf(d *libvirtxml.Domain) int64 {
	if d.VCPU == nil {
		return 1
	}
	return int64(d.VCPU.Value)
}

// memoryOf is a domain's memory in MiB; libvirt always gives it in KiB.
func memoryOf(d *libvirtxml.Domain) int64 {
	if d.Memory == nil {
		return 0
	}
	return int64(d.Memory.Value) >> 10
}

// addresses are those that a running machine has: by its guest agent, else by libvirt's
// leases, else by the host's table of neighbours.
func (s *session) addresses(g *guest) (all []netip.Addr) {
	for _, source := range []rpc.DomainInterfaceAddressesSource{
		rpc.DomainInterfaceAddressesSrcAgent, rpc.DomainInterfaceAddressesSrcLease, rpc.DomainInterfaceAddressesSrcArp,
	} {
		if source == rpc.DomainInterfaceAddressesSrcAgent && !hasAgent(g.live) {
			continue
		}
		cards, err := s.DomainInterfaceAddresses(g.Domain, uint32(source), 0)
		if err != nil {
			continue // of what a driver, or the guest, cannot say
		}
		for _, card := range cards {
			for _, a := range card.Addrs {
				address, err := netip.ParseAddr(a.Addr)
				if err == nil && !address.IsLoopback() && !address.IsLinkLocalUnicast() {
					all = append(all, address)
				}
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

func cmpAddresses(told, given []netip.Addr) []netip.Addr {
	if len(told) > 0 {
		return told
	}
	return given
}

// hasAgent reports whether the guest's agent is connected.
func hasAgent(live *libvirtxml.Domain) bool {
	return slices.ContainsFunc(live.Devices.Channels, func(c libvirtxml.DomainChannel) bool {
		return c.Target != nil && c.Target.VirtIO != nil && strings.HasPrefix(c.Target.VirtIO.Name, "org.qemu.guest_agent") &&
			c.Target.VirtIO.State == "connected"
	})
}
