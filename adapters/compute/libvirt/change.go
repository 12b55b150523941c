package libvirt

import (
	"context"
	"errors"
	"fmt"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Change brings a machine to what is wanted.
func (h *Hypervisor) Change(ctx context.Context, external string, m compute.Machine) error {
	if err := check(m); err != nil {
		return err
	}
	return h.write(ctx, "change the machine", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		return h.change(ctx, s, g, m)
	})
}

// ours returns the machine that is to be there and to be ours.
func (h *Hypervisor) ours(s *session, external string, m compute.Machine) (*guest, error) {
	if external != "" && external != m.ID.String() {
		return nil, permanent("drift", "the machine is %s, not %s", external, m.ID)
	}
	g, err := s.lookup(m.ID)
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return nil, permanent("absent", "there is no machine %s", m.ID)
	case !h.isOurs(g):
		return nil, permanent("drift", "the machine %s does not carry the mark of this panel", m.ID)
	}
	return g, nil
}

func (h *Hypervisor) change(ctx context.Context, s *session, g *guest, m compute.Machine) error {
	if !h.isOurs(g) {
		return permanent("drift", "the machine %s does not carry the mark of this panel", m.ID)
	}
	if latest := max(g.mark.Generation, g.asked.Generation); latest > m.Generation {
		return permanent("overtaken", "the machine was brought to generation %d", latest)
	}
	anew := g.mark.Disk < m.Disk
	if err := h.possible(s, g, m, anew); err != nil {
		return err
	}
	if g.running() && (!m.On || g.runs.Boot < m.Boot || anew) {
		if err := h.switchOff(s, g, m); err != nil {
			return err
		}
	}
	if err := h.prepare(ctx, s, g, m, anew); err != nil {
		return err
	}
	return h.finish(s, g, m, anew)
}

// possible refuses what would fail once the machine is off.
func (h *Hypervisor) possible(s *session, g *guest, m compute.Machine, anew bool) error {
	if err := s.neverShrinks(g, m); err != nil {
		return err
	}
	p, err := s.pool(h.Pool)
	switch {
	case err != nil:
		return err
	case m.Rescue && h.Rescue == "":
		return permanent("not_supported", "the hypervisor has no rescue system")
	case anew && m.Snapshot == "":
		_, _, err = h.template(s, p, m)
	case anew:
		_, err = s.snapshot(g, m.Snapshot)
	}
	return err
}

// switchOff stops a machine: at once, or with time to shut down. The time counts from a note
// in its metadata.
func (h *Hypervisor) switchOff(s *session, g *guest, m compute.Machine) error {
	if m.Soft && !h.target.hollow && !h.hasHadTime(g) {
		if g.asked.Since == "" || g.asked.Generation < m.Generation {
			if err := s.noteShutdown(g.Domain, h.Now(), m.Generation); err != nil {
				return err
			}
		}
		if err := s.DomainShutdown(g.Domain); err != nil && !is(err, rpc.ErrOperationInvalid) {
			return err
		}
		return compute.OnItsWay(pause)
	}
	err := s.DomainDestroy(g.Domain)
	if err != nil && !is(err, rpc.ErrOperationInvalid) {
		return fmt.Errorf("switch the machine off: %w", err)
	}
	g.live, g.ID = nil, -1
	return nil
}

// hasHadTime reports whether the time to shut down is over.
func (h *Hypervisor) hasHadTime(g *guest) bool {
	since, err := time.Parse(time.RFC3339, g.asked.Since)
	return err == nil && !h.Now().Before(since.Add(h.Grace))
}

// prepare makes the disk that is wanted, at its size, and what cloud-init reads.
func (h *Hypervisor) prepare(ctx context.Context, s *session, g *guest, m compute.Machine, anew bool) error {
	switch {
	case anew && m.Snapshot == "":
		return h.makeDisk(ctx, m)
	case anew:
		if err := s.revert(g, m.Snapshot); err != nil {
			return err
		}
	}
	p, err := s.pool(h.Pool)
	if err != nil {
		return err
	}
	if h.target.hollow {
		return s.growForTests(p, g, m)
	}
	if err := s.grow(g, m); err != nil {
		return fmt.Errorf("grow the disk: %w", err)
	}
	if g.running() {
		return nil
	}
	return h.writeSeed(s, p, m, number(diskPath(g.defined)))
}

// finish defines the machine anew, deletes volumes that it no longer has, and starts it.
func (h *Hypervisor) finish(s *session, g *guest, m compute.Machine, anew bool) error {
	n := number(diskPath(g.defined))
	if anew && m.Snapshot == "" {
		n = m.Disk
		if err := s.forgetSnapshots(g); err != nil {
			return err
		}
	}
	if err := h.define(s, g, m, n); err != nil {
		return err
	}
	keep := []string{diskName(m, n), seedName(m, n)}
	if m.Rescue || g.running() {
		keep = append(keep, rescueName(m))
	}
	p, err := s.pool(h.Pool)
	if err != nil {
		return err
	}
	if err := s.dropOthers(p, m, keep...); err != nil {
		return err
	}
	if !m.On || g.running() {
		return nil
	}
	return s.start(g)
}

// Remove stops and deletes a machine with its snapshots and volumes.
func (h *Hypervisor) Remove(ctx context.Context, external string, m compute.Machine) error {
	return h.write(ctx, "remove the machine", func(s *session) error { return h.remove(s, external, m) })
}

func (h *Hypervisor) remove(s *session, external string, m compute.Machine) error {
	if h.isCopying(m) {
		return compute.OnItsWay(pause)
	}
	g, err := h.ours(s, external, m)
	if err != nil {
		if f, is := errors.AsType[*domain.Failure](err); !is || f.Code != "absent" {
			return err
		}
	}
	if g != nil {
		if err := h.undefine(s, g); err != nil {
			return err
		}
	}
	p, err := s.pool(h.Pool)
	if err != nil {
		return err
	}
	return s.dropOthers(p, m)
}

func (h *Hypervisor) undefine(s *session, g *guest) error {
	if g.running() {
		if err := s.DomainDestroy(g.Domain); err != nil && !is(err, rpc.ErrOperationInvalid, rpc.ErrNoDomain) {
			return fmt.Errorf("switch the machine off: %w", err)
		}
	}
	flags := rpc.DomainUndefineManagedSave | rpc.DomainUndefineSnapshotsMetadata
	if !h.target.hollow {
		flags |= rpc.DomainUndefineNvram
	}
	err := s.DomainUndefineFlags(g.Domain, flags)
	if err != nil && !is(err, rpc.ErrNoDomain) {
		return fmt.Errorf("undefine the machine: %w", err)
	}
	return nil
}
