package program

import (
	"cmp"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/sandbox"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/compute"
	"hostpanel/eventstore/clock"
)

// openHypervisors opens those of the settings. A look back has none but the sandbox: it
// changes nothing outside.
func (p *Program) openHypervisors(installation string) (fleet compute.Fleet, err error) {
	for _, h := range p.Config.Hypervisors {
		if p.past != nil {
			h = config.Hypervisor{Name: h.Name, Driver: config.Sandbox}
		}
		one, err := OpenHypervisor(h, Place{Installation: installation, Pool: p.Pool})
		if err != nil {
			return nil, err
		}
		fleet = append(fleet, one)
	}
	return fleet, nil
}

// Hypervisors are those of the settings, in their order.
func (p *Program) Hypervisors() compute.Fleet { return p.hypervisors }

// A Place is what a hypervisor is opened with.
type Place struct {
	Installation string        // of the panel
	Pool         *pgxpool.Pool // of the sandbox; others have no tables
}

// OpenHypervisor opens one of the settings. It calls nothing.
func OpenHypervisor(h config.Hypervisor, at Place) (opened compute.Hypervisor, err error) {
	switch h.Driver {
	case config.Libvirt:
		opened, err = libvirt.New(libvirt.Config{
			URL: h.URL, Name: h.Name, Installation: at.Installation, Pool: h.Pool, Network: h.Network, Rescue: h.Rescue,
			Filter: h.Filter, Switch: h.Switch, Serial: h.Serial, Emulated: h.Emulated, Grace: h.Grace, Now: clock.Now,
		})
	case config.Proxmox:
		opened, err = proxmox.New(proxmox.Settings{
			URL: h.URL, TokenID: h.TokenID, Secret: h.Secret, CAFile: h.CAFile, Fingerprint: h.Fingerprint, Server: h.Name,
			Installation: at.Installation, Storage: h.Pool, Linked: h.Linked, FirstID: h.FirstID, Templates: h.Templates,
			Rescue: h.Rescue, Grace: cmp.Or(h.Grace, time.Minute), Patience: taskPatience,
		})
	default:
		options := []sandbox.Option{sandbox.Named(h.Name), sandbox.OfInstallation(at.Installation)}
		if len(h.Hosts) > 0 {
			options = append(options, sandbox.Hosts(h.Hosts...))
		}
		return sandbox.New(at.Pool, options...), nil
	}
	if err != nil {
		return nil, console.Misused("HOSTPANEL_COMPUTE, %s: %w", h.Name, err)
	}
	return opened, nil
}

// taskPatience is how long one call waits for a task of Proxmox, before it is repeated.
const taskPatience = 10 * time.Second

// CloseHypervisor ends the connections of a hypervisor that has any.
func CloseHypervisor(h compute.Hypervisor) {
	if closer, is := h.(io.Closer); is {
		_ = closer.Close()
	}
}
