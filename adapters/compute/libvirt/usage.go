package libvirt

import (
	"context"
	"fmt"
	"time"

	"hostpanel/domain/compute"
)

// Usage reads what a machine uses. Its counters begin at zero with each start.
func (h *Hypervisor) Usage(ctx context.Context, external string, m compute.Machine) (u compute.Usage, err error) {
	err = h.read(ctx, "read the usage", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		u, err = h.usage(s, g)
		return err
	})
	return u, err
}

func (h *Hypervisor) usage(s *session, g *guest) (u compute.Usage, err error) {
	u = compute.Usage{At: h.Now(), Epoch: fmt.Sprintf("%d/off", g.mark.Boot)}
	_, allocated, err := s.infoOf(diskPath(g.defined))
	if u.DiskMB = int64(allocated >> 20); err != nil || !g.running() {
		return u, err
	}
	u.Epoch = fmt.Sprintf("%d/%d", g.runs.Boot, g.ID)
	_, _, memory, _, cpu, err := s.DomainGetInfo(g.Domain)
	if err != nil {
		return u, err
	}
	u.CPU, u.MemoryMB = time.Duration(cpu), int64(memory>>10)
	for _, card := range g.live.Devices.Interfaces {
		if card.Target == nil || card.Target.Dev == "" {
			continue // QEMU's own network is not counted
		}
		received, _, _, _, sent, _, _, _, err := s.DomainInterfaceStats(g.Domain, card.Target.Dev)
		if err != nil {
			return u, err
		}
		u.Received, u.Sent = u.Received+received, u.Sent+sent
	}
	return u, nil
}
