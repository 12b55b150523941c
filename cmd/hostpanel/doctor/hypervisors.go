package doctor

import (
	"context"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/wording"
)

// hypervisors answer, and have a host that takes machines and a template for their disks.
func (p *patient) hypervisors(ctx context.Context) (found []Finding) {
	if p.panel == nil {
		return []Finding{{"hypervisors", skipped, "not examined without the database", ""}}
	}
	for i, h := range p.panel.Hypervisors() {
		if p.cfg.Hypervisors[i].Driver == config.Sandbox {
			found = append(found, Finding{"hypervisors", ok, h.Server() + " is the sandbox of the panel", ""})
			continue
		}
		found = append(found, within(ctx, func(ctx context.Context) Finding { return hostsOf(ctx, h) }))
	}
	return found
}

func hostsOf(ctx context.Context, h compute.Hypervisor) Finding {
	hosts, err := h.Hosts(ctx)
	if err != nil {
		mend := "start it, or mend the way to it; machines wait"
		if domain.ClassOf(err) == domain.Permanent {
			mend = "correct HOSTPANEL_COMPUTE (docs/configuration.md)"
		}
		return Finding{"hypervisors", failed, h.Server() + ": " + why(err), mend}
	}
	templates := map[string]bool{}
	for _, host := range hosts {
		if host.Down != "" {
			return Finding{"hypervisors", warning, h.Server() + ": " + host.Name + " takes no machines: " + host.Down, "mend the host"}
		}
		for _, name := range host.Templates {
			templates[name] = true
		}
	}
	if len(templates) == 0 {
		return Finding{"hypervisors", warning, h.Server() + " has no host with a template", "make one (docs/machines.md)"}
	}
	says := h.Server() + " answers: " + wording.Count(len(hosts), "host") + ", " + wording.Count(len(templates), "template")
	return Finding{"hypervisors", ok, says, ""}
}
