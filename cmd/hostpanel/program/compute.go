package program

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/domain/compute"
)

// A Place is what a hypervisor is opened with.
type Place struct {
	Installation string        // of the panel
	Pool         *pgxpool.Pool // of the sandbox; others have no tables
}

// OpenHypervisor opens one of the settings. It calls nothing.
func OpenHypervisor(h config.Hypervisor, at Place) (compute.Hypervisor, error) {
	open := map[config.Driver]func(config.Hypervisor, Place) (compute.Hypervisor, error){
		config.Sandbox: openSandbox,
	}[h.Driver]
	if open == nil {
		return nil, fmt.Errorf("this version has no hypervisors of the sort %s", h.Driver)
	}
	return open(h, at)
}

// hypervisors opens all of the settings.
func (p *Program) hypervisors(installation string) (all compute.Fleet, err error) {
	for _, h := range p.Config.Hypervisors {
		one, err := OpenHypervisor(h, Place{Installation: installation, Pool: p.Pool})
		if err != nil {
			return nil, fmt.Errorf("open the hypervisor %s: %w", h.Name, err)
		}
		all = append(all, one)
	}
	return all, nil
}

func openSandbox(h config.Hypervisor, at Place) (compute.Hypervisor, error) {
	options := []sandbox.Option{sandbox.Named(h.Name), sandbox.OfInstallation(at.Installation)}
	if len(h.Hosts) > 0 {
		options = append(options, sandbox.Hosts(h.Hosts...))
	}
	return sandbox.New(at.Pool, options...), nil
}
