package libvirt

import (
	"context"
	"errors"
	"fmt"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Create makes a machine: its disk, what cloud-init reads, its definition, its start. What
// an earlier attempt has made is found by its names and kept.
func (h *Hypervisor) Create(ctx context.Context, m compute.Machine) (external string, err error) {
	if err := check(m); err != nil {
		return "", err
	}
	err = h.write(ctx, "create the machine", func(s *session) error { return h.create(ctx, s, m) })
	if err != nil {
		return "", err
	}
	return m.ID.String(), nil
}

func (h *Hypervisor) create(ctx context.Context, s *session, m compute.Machine) error {
	if err := h.onHost(s, m); err != nil {
		return err
	}
	g, err := s.lookup(m.ID)
	if err != nil {
		return err
	}
	if g != nil {
		return h.change(ctx, s, g, m)
	}
	if err := s.nameFree(m); err != nil {
		return err
	}
	if err := h.hasMemory(s, m); err != nil {
		return err
	}
	if err := h.makeDisk(ctx, m); err != nil {
		return err
	}
	d, err := h.newDefinition(s, m)
	if err != nil {
		return err
	}
	g = &guest{Domain: rpc.Domain{Name: m.Name, UUID: rpc.UUID(m.ID), ID: -1}, defined: d, partial: true}
	if err := h.define(s, g, m, m.Disk); err != nil {
		return err
	}
	if !m.On {
		return nil
	}
	return s.start(g)
}

// nameFree refuses a machine whose name another one has.
func (s *session) nameFree(m compute.Machine) error {
	other, err := s.named(m.Name)
	if err == nil && other != nil && other.id() != m.ID {
		err = permanent("name_taken", "there is another machine with the name %q", m.Name)
	}
	return err
}

// hasMemory refuses a machine that the host cannot hold, however empty it is.
func (h *Hypervisor) hasMemory(s *session, m compute.Machine) error {
	_, memory, _, _, _, _, _, _, err := s.NodeGetInfo()
	if err == nil && uint64(m.MemoryMB)<<10 > memory {
		err = permanent("node_full", "the host has %d MB of memory", memory>>10)
	}
	return err
}

// define writes a machine's definition anew, with the volumes of a number, which are there.
func (h *Hypervisor) define(s *session, g *guest, m compute.Machine, number int64) error {
	p, err := s.pool(h.Pool)
	if err != nil {
		return err
	}
	var paths disks
	if paths.disk, err = s.pathOf(p, diskName(m, number)); err != nil {
		return err
	}
	if paths.seed, err = s.pathOf(p, seedName(m, number)); err != nil {
		return err
	}
	if paths.rescue, err = h.rescueOf(s, p, g, m); err != nil {
		return err
	}
	if err := s.haveFilter(h.Config, m.Network); err != nil {
		return fmt.Errorf("define the network filter: %w", err)
	}
	if err := shape(h.Config, g.defined, m, paths); err != nil {
		return err
	}
	if m.On && g.partial {
		g.defined.Metadata.XML += unfinished
	}
	if err := s.define(g.defined); err != nil {
		return s.refusedName(m, err)
	}
	return nil
}

// rescueOf is where the disk of the rescue system is. A running machine keeps its own.
func (h *Hypervisor) rescueOf(s *session, p pool, g *guest, m compute.Machine) (string, error) {
	switch have := pathAt(g.defined, rescueTarget); {
	case !m.Rescue:
		return "", nil
	case have != "" && g.running():
		return have, nil
	}
	return h.makeRescue(s, p, m)
}

// refusedName says so when libvirt refuses a definition because of its name: another
// machine came to it meanwhile. libvirt has no code of its own for that.
func (s *session) refusedName(m compute.Machine, err error) error {
	taken := s.nameFree(m)
	if taken != nil && is(err, rpc.ErrOperationFailed, rpc.ErrDomExist) {
		return taken
	}
	return fmt.Errorf("define the machine: %w", err)
}

// start starts a machine. One that runs is a success. With its first start it is made.
func (s *session) start(g *guest) error {
	if err := s.run(g); err != nil || !g.partial {
		return err
	}
	return s.noteCreated(g.Domain)
}

func (s *session) run(g *guest) error {
	err := s.DomainCreate(g.Domain)
	if err == nil || !is(err, rpc.ErrOperationInvalid, rpc.ErrInternalError, rpc.ErrOperationFailed) {
		return err
	}
	now, lookErr := s.lookup(g.id())
	switch {
	case lookErr != nil || now == nil:
		return fmt.Errorf("start the machine: %w", errors.Join(err, lookErr))
	case now.running():
		return nil
	}
	return domain.Fail(domain.Transient, "not_started", fmt.Errorf("start the machine: %w", err))
}
