package proxmox_test

import (
	"context"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/adapters/conformance"
	"hostpanel/domain/compute"
)

func TestConformance(t *testing.T)       { computetest.Run(t, empty(false)) }
func TestConformanceLinked(t *testing.T) { computetest.Run(t, empty(true)) }

// The answer of each call is lost in turn, and each hostile text is a name.
func TestConformanceCampaigns(t *testing.T) { computetest.RunCampaigns(t, empty(false)) }

// Each call is ended before it is over, at ever later moments, as the death of the panel does.
func TestConformanceOfEndedCalls(t *testing.T) {
	computetest.RunCampaigns(t, func(t *testing.T) computetest.Hypervisor {
		h := empty(false)(t)
		between := &computetest.Between{Hypervisor: h.Hypervisor}
		h.Hypervisor, h.Cut, h.Hostname = between, between.Cut, nil
		return h
	})
}

// calls are what the suite calls them, by what the adapter sends.
var calls = map[string]func(method, path string) bool{
	"create":   func(_, path string) bool { return strings.HasSuffix(path, "/clone") },
	"change":   func(method, path string) bool { return method != "GET" && !strings.HasSuffix(path, "/clone") },
	"remove":   func(method, path string) bool { return method == "DELETE" && !strings.Contains(path, "/snapshot/") },
	"snapshot": func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/snapshot") },
	"drop":     func(method, path string) bool { return method == "DELETE" && strings.Contains(path, "/snapshot/") },
}

func empty(linked bool) func(*testing.T) computetest.Hypervisor {
	return func(t *testing.T) computetest.Hypervisor {
		pve := proxmoxtest.Start()
		t.Cleanup(pve.Close)
		return tried(t, pve, linked)
	}
}

func tried(t *testing.T, pve *proxmoxtest.Server, linked bool) computetest.Hypervisor {
	number := func(m compute.Machine) int64 { return numberOf(pve, m) }
	return computetest.Hypervisor{
		Hypervisor: panel(t, pve, "ours", func(s *proxmox.Settings) { s.Linked = linked }),
		Other:      panel(t, pve, "theirs", nil),
		Like:       like(),
		Patience:   20 * time.Second,
		Lose:       func(_ conformance.T, call string) { pve.Faults.LoseAnswerOf(calls[call]) },
		Cut: func(n int) func() bool {
			pve.Faults.CutAnswer(n)
			return pve.Faults.Cut
		},
		Left:     func(context.Context) ([]string, error) { return left(pve), nil },
		Starts:   func(_ conformance.T, m compute.Machine) int { return pve.Starts(number(m)) },
		Mark:     func(_ conformance.T, m compute.Machine) { pve.Write(number(m), "marked") },
		Marked:   func(_ conformance.T, m compute.Machine) bool { return pve.Read(number(m)) == "marked" },
		Hostname: func(_ conformance.T, m compute.Machine) string { return pve.Machine(number(m)).Config["name"] },
		Stranger: func(_ conformance.T, name string) func() {
			pve.AddStranger(120, name)
			return func() { pve.Delete(120) }
		},
	}
}

func left(pve *proxmoxtest.Server) []string {
	all := pve.Volumes()
	for _, m := range pve.Machines() {
		all = append(all, "machine "+strconv.FormatInt(m.ID, 10))
	}
	return all
}

// numberOf is the number of a machine at the double; 0: it is not there.
func numberOf(pve *proxmoxtest.Server, m compute.Machine) int64 {
	for _, have := range pve.Machines() {
		if strings.Contains(have.Config["description"], "machine="+m.ID.String()) {
			return have.ID
		}
	}
	return 0
}

func like() compute.Machine {
	return compute.Machine{
		Template: "debian-13", DiskGB: 4,
		Network: compute.Network{
			Bridge: "vmbr1", VLAN: 7, RateMbit: 100,
			Addresses:   []netip.Prefix{netip.MustParsePrefix("192.0.2.77/24"), netip.MustParsePrefix("2001:db8::77/64")},
			Gateways:    []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")},
			NameServers: []netip.Addr{netip.MustParseAddr("192.0.2.53")},
		},
	}
}

// panel is an installation of the panel at a cluster.
func panel(t *testing.T, pve *proxmoxtest.Server, installation string, with func(*proxmox.Settings)) *proxmox.Hypervisor {
	t.Helper()
	s := proxmox.Settings{
		URL: pve.URL(), TokenID: proxmoxtest.Token, Secret: proxmoxtest.Secret, Fingerprint: pve.Fingerprint(),
		Server: "pve", Installation: installation, Storage: "local-lvm", FirstID: 1000, Rescue: "local:iso/rescue.iso",
		Grace: 30 * time.Second, Patience: time.Second,
	}
	if with != nil {
		with(&s)
	}
	h, err := proxmox.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}
