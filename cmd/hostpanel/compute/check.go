// Package compute has the command that tries a hypervisor before the panel makes machines
// on it (docs/machines-check.md).
package compute

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/conformance"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/compute"
)

// Command is `hostpanel compute`.
type Command struct {
	Check Check `cmd:"" help:"Try a hypervisor of the settings: make machines, change them, and take them away."`
}

// Check is `hostpanel compute check`.
type Check struct {
	Name      string        `arg:"" optional:"" help:"Which hypervisor, as the settings call it; none: the only one."`
	Yes       bool          `help:"Machines may be made on it, with names of their own, and removed again."`
	Interrupt bool          `help:"Calls are ended before they are over, too: each at ever later moments. It takes long."`
	Template  string        `placeholder:"NAME" help:"Of the machines' disks; none: the first one of the host."`
	Host      string        `placeholder:"NAME" help:"That runs the machines; none: any."`
	Cores     int64         `default:"1" help:"Of a machine."`
	MemoryMB  int64         `name:"memory" default:"512" placeholder:"MB" help:"Of a machine."`
	DiskGB    int64         `name:"disk" default:"4" placeholder:"GB" help:"No smaller than the template."`
	Bridge    string        `placeholder:"NAME" help:"Of the host; none: the hypervisor's own network."`
	VLAN      int64         `name:"vlan" placeholder:"NUMBER" help:"Of the machines' network; none: without a tag."`
	Addresses []string      `name:"address" placeholder:"IP/BITS" help:"One that the machines may have, where there is a bridge."`
	Gateways  []string      `name:"gateway" placeholder:"IP" help:"Of the address."`
	Patience  time.Duration `default:"3m" help:"How long it may take until a machine is as wanted."`
	Only      string        `placeholder:"WORDS" help:"Only the checks with these words in their names."`
	Clean     string        `placeholder:"NAMES" help:"Take away what an interrupted check has left: the beginning of its names."`
}

// Run tries the hypervisor and tells each check in words.
func (c Check) Run(ctx context.Context, s config.Settings, out console.Console) error {
	settings, err := config.New(s, false)
	if err != nil {
		return err
	}
	chosen, err := c.choose(settings.Hypervisors)
	if err != nil {
		return err
	}
	if !c.Yes {
		return console.Misused("this makes machines on %s, and removes them: say --yes", chosen.Name)
	}
	if chosen.Driver != config.Sandbox {
		return c.on(ctx, chosen, program.Place{}, out)
	}
	return program.WithoutPeople(ctx, s, out, func(p *program.Program) error {
		return c.on(ctx, chosen, program.Place{Pool: p.Pool}, out)
	})
}

// choose is the hypervisor that is meant.
func (c Check) choose(all []config.Hypervisor) (config.Hypervisor, error) {
	var names []string
	for _, h := range all {
		if names = append(names, h.Name); h.Name == c.Name || c.Name == "" && len(all) == 1 {
			return h, nil
		}
	}
	return config.Hypervisor{}, console.Misused("say which hypervisor: %s", strings.Join(names, ", "))
}

// trying and another are the installations whose marks the machines of a check have. No
// panel has their names.
const trying, another = "check", "check of another"

func (c Check) on(ctx context.Context, chosen config.Hypervisor, at program.Place, out console.Console) error {
	at.Installation = trying
	ours, err := program.OpenHypervisor(chosen, at)
	if err != nil {
		return err
	}
	defer program.CloseHypervisor(ours)
	at.Installation = another
	theirs, err := program.OpenHypervisor(chosen, at)
	if err != nil {
		return err
	}
	defer program.CloseHypervisor(theirs)
	between := &computetest.Between{Hypervisor: ours}
	tried := computetest.Hypervisor{Hypervisor: between, Other: theirs, Lose: between.Lose, Patience: c.Patience}
	if c.Interrupt {
		tried.Cut = between.Cut
	}
	switch {
	case chosen.Driver == config.Sandbox:
		tried.Lacks = []string{computetest.Templates}
	case chosen.Rescue == "":
		tried.Lacks = []string{computetest.Rescue}
	}
	if c.Clean != "" {
		return out.Cleaned(c.Clean, computetest.Clean(ctx, tried, c.Clean))
	}
	if tried.Like, err = c.like(ctx, ours); err != nil {
		return err
	}
	return out.Tried(ctx, "hostpanel compute check "+chosen.Name+" --yes --clean", func(names string, tell func(conformance.Result)) {
		computetest.Check(ctx, tried, names, c.Only, tell)
	})
}

// like is what the machines of the checks are like.
func (c Check) like(ctx context.Context, h compute.Hypervisor) (m compute.Machine, err error) {
	m = compute.Machine{Host: c.Host, Cores: c.Cores, MemoryMB: c.MemoryMB, DiskGB: c.DiskGB, Template: c.Template}
	m.Network = compute.Network{Bridge: c.Bridge, VLAN: c.VLAN}
	if m.Network.Addresses, err = each("--address", c.Addresses, netip.ParsePrefix); err != nil {
		return m, err
	}
	if m.Network.Gateways, err = each("--gateway", c.Gateways, netip.ParseAddr); err != nil || m.Template != "" {
		return m, err
	}
	hosts, err := h.Hosts(ctx)
	i := slices.IndexFunc(hosts, func(h compute.Host) bool {
		return h.Down == "" && len(h.Templates) > 0 && (c.Host == "" || c.Host == h.Name)
	})
	switch {
	case err != nil:
		return m, err
	case i < 0:
		return m, console.Misused("no host has a template: make one, or name one with --template")
	}
	m.Template = hosts[i].Templates[0]
	return m, nil
}

func each[T any](flag string, texts []string, parse func(string) (T, error)) (all []T, err error) {
	for _, text := range texts {
		one, err := parse(text)
		if err != nil {
			return nil, console.Misused("%s: %w", flag, err)
		}
		all = append(all, one)
	}
	return all, nil
}
