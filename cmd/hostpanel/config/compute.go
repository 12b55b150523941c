package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/compute"
)

// A Hypervisor is one that makes virtual machines.
type Hypervisor struct {
	Name   string // in queues and claims, and of its nodes
	Driver Driver
	URL    string // of libvirt, as virsh has it, or of Proxmox

	Hosts []compute.Host // of the sandbox; none: one that is never full

	Pool     string // of volumes, at libvirt; at Proxmox the storage of disks
	Network  string // of libvirt, for machines without a bridge
	Rescue   string // volume or image of the rescue system
	Filter   string // of libvirt's networks
	Switch   bool   // bridges are of Open vSwitch
	Serial   string // folder for logs of serial consoles
	Emulated bool   // processors are emulated

	TokenID, Secret     string            // of Proxmox
	CAFile, Fingerprint string            // of its certificate
	Linked              bool              // disks share what they can with templates
	FirstID             int64             // number of machines from which on they are the panel's
	Templates           map[string]string // name in the panel → number or name at Proxmox

	Grace time.Duration // that a machine has to shut down; 0: the driver's
}

// A Driver is what sort of hypervisor one is.
type Driver string

const (
	Sandbox Driver = "sandbox"
	Libvirt Driver = "libvirt"
	Proxmox Driver = "proxmox"
)

// An option of a hypervisor's URL reads its values, as often as it is given.
type option func(*Hypervisor, []string) error

// once is an option that is given once.
func once(read func(*Hypervisor, string) error) option {
	return func(h *Hypervisor, values []string) error {
		if len(values) != 1 || values[0] == "" {
			return errors.New("one value is needed")
		}
		return read(h, values[0])
	}
}

func textOf(field func(*Hypervisor) *string) option {
	return once(func(h *Hypervisor, value string) error { *field(h) = value; return nil })
}

func flagOfURL(field func(*Hypervisor) *bool) option {
	return once(func(h *Hypervisor, value string) (err error) {
		if value != "on" && value != "off" {
			return fmt.Errorf("%q is neither on nor off", value)
		}
		*field(h) = value == "on"
		return nil
	})
}

var grace = once(func(h *Hypervisor, value string) (err error) {
	h.Grace, err = time.ParseDuration(value)
	if err != nil || h.Grace < time.Second || h.Grace > time.Hour {
		return fmt.Errorf("%q is not a time from 1s to 1h", value)
	}
	return nil
})

// stays is an option that libvirt's own URLs have: how it is reached.
func stays(*Hypervisor, []string) error { return nil }

// options are what the URLs of each driver may have.
var options = map[Driver]map[string]option{
	Sandbox: {"host": sandboxHosts},
	Libvirt: {
		"socket": stays, "pkipath": stays, "keyfile": stays, "known_hosts": stays,
		"pool":     textOf(func(h *Hypervisor) *string { return &h.Pool }),
		"network":  textOf(func(h *Hypervisor) *string { return &h.Network }),
		"rescue":   textOf(func(h *Hypervisor) *string { return &h.Rescue }),
		"filter":   textOf(func(h *Hypervisor) *string { return &h.Filter }),
		"serial":   textOf(func(h *Hypervisor) *string { return &h.Serial }),
		"switch":   flagOfURL(func(h *Hypervisor) *bool { return &h.Switch }),
		"emulated": flagOfURL(func(h *Hypervisor) *bool { return &h.Emulated }),
		"grace":    grace,
	},
	Proxmox: {
		"storage":     textOf(func(h *Hypervisor) *string { return &h.Pool }),
		"rescue":      textOf(func(h *Hypervisor) *string { return &h.Rescue }),
		"ca_file":     textOf(func(h *Hypervisor) *string { return &h.CAFile }),
		"fingerprint": textOf(func(h *Hypervisor) *string { return &h.Fingerprint }),
		"linked":      flagOfURL(func(h *Hypervisor) *bool { return &h.Linked }),
		"secret_file": once(readSecret), "first_id": once(readFirstID), "template": readTemplates, "grace": grace,
	},
}

// sandboxHosts reads hosts such as "one:16:32768:500": cores, memory in MB and disk in GB.
func sandboxHosts(h *Hypervisor, values []string) error {
	for _, value := range values {
		parts := strings.Split(value, ":")
		var sizes [3]int64
		for i := range sizes {
			if len(parts) == 4 {
				sizes[i], _ = strconv.ParseInt(parts[i+1], 10, 64) // no number is 0, which is refused
			}
		}
		if slices.Min(sizes[:]) < 1 || !computeName.MatchString(parts[0]) {
			return fmt.Errorf("%q is not a name with cores, MB and GB, such as one:16:32768:500", value)
		}
		h.Hosts = append(h.Hosts, compute.Host{Name: parts[0], Cores: sizes[0], MemoryMB: sizes[1], DiskGB: sizes[2]})
	}
	return nil
}

func readSecret(h *Hypervisor, path string) error {
	text, err := os.ReadFile(path)
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = fmt.Errorf("%s is empty", path)
	}
	h.Secret = strings.TrimSpace(string(text))
	return err
}

func readFirstID(h *Hypervisor, value string) (err error) {
	h.FirstID, err = strconv.ParseInt(value, 10, 64)
	if err != nil || h.FirstID < 100 || h.FirstID > 900_000_000 {
		return fmt.Errorf("%q is not a number from 100 to 900000000", value)
	}
	return nil
}

// readTemplates reads pairs such as "debian-13:9000".
func readTemplates(h *Hypervisor, values []string) error {
	h.Templates = map[string]string{}
	for _, value := range values {
		name, at, found := strings.Cut(value, ":")
		if !found || name == "" || at == "" {
			return fmt.Errorf("%q is not a name with a template, such as debian-13:9000", value)
		}
		h.Templates[name] = at
	}
	return nil
}

// computeName is what a hypervisor may be called.
var computeName = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,30}[a-z0-9])?$`)

// compute reads where machines are made: a list of name=URL. The demo uses nothing outside this machine.
func (c *Config) compute(s Settings) error {
	const setting = "HOSTPANEL_COMPUTE"
	isReal, isAway, names := false, false, map[string]bool{}
	for text := range strings.SplitSeq(cmp.Or(s.Compute, "sandbox"), ",") {
		if text = strings.TrimSpace(text); text == "sandbox" {
			text = "sandbox=sandbox:"
		}
		name, address, _ := strings.Cut(text, "=")
		if !computeName.MatchString(name) || address == "" {
			return console.Misused("%s: hypervisor %d is not name=URL, such as node1=qemu+ssh://panel@node1/system", setting, len(names)+1)
		}
		if names[name] {
			return console.Misused("%s: two hypervisors are called %s", setting, name)
		}
		names[name] = true
		h, err := hypervisorOf(name, address)
		if err != nil {
			return console.Misused("%s, %s: %w", setting, name, err)
		}
		isReal, isAway = isReal || h.Driver != Sandbox, isAway || h.isAway()
		c.Hypervisors = append(c.Hypervisors, h)
	}
	switch {
	case isAway && c.Demo:
		return console.Misused("%s: the demo has the sandbox, or libvirt of this machine", setting)
	case !isReal && !c.Demo:
		c.warn(setting + " is the sandbox: no machine is really made")
	}
	return nil
}

// hypervisorOf reads the URL of a hypervisor. Its errors quote no more of it than its options.
func hypervisorOf(name, address string) (Hypervisor, error) {
	h := Hypervisor{Name: name}
	u, err := url.Parse(address)
	if err != nil || u.Fragment != "" {
		return h, errors.New("it has no URL")
	}
	if _, has := u.User.Password(); has {
		return h, errors.New("a URL has no password in it, because every process of the machine could read it")
	}
	if h.Driver, err = driverOf(u); err != nil {
		return h, err
	}
	given, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return h, errors.New("what stands after ? is not name=value&…")
	}
	known, kept := options[h.Driver], url.Values{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		read := known[name]
		if read == nil {
			return h, fmt.Errorf("%q is none of its options: %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if err := read(&h, given[name]); err != nil {
			return h, fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, name := range []string{"socket", "pkipath", "keyfile", "known_hosts"} {
		if given.Has(name) {
			kept[name] = given[name]
		}
	}
	return h, h.reachedBy(u, kept)
}

// isAway tells whether a hypervisor is reached over a network.
func (h Hypervisor) isAway() bool {
	return h.Driver == Proxmox || h.Driver == Libvirt && !strings.Contains(h.URL, "+unix:")
}

// driverOf is the sort of a hypervisor by the scheme of its URL.
func driverOf(u *url.URL) (Driver, error) {
	switch u.Scheme {
	case "sandbox":
		return Sandbox, nil
	case "proxmox":
		return Proxmox, nil
	case "qemu+unix", "test+unix":
		return Libvirt, nil
	case "qemu+tls", "qemu+ssh":
		if u.Hostname() == "" {
			return "", fmt.Errorf("with %s the URL needs a host", u.Scheme)
		}
		return Libvirt, nil
	}
	return "", fmt.Errorf("%q is none of sandbox, qemu+unix, qemu+tls, qemu+ssh, test+unix, proxmox", u.Scheme)
}

// reachedBy checks what a URL needs besides its options.
func (h *Hypervisor) reachedBy(u *url.URL, kept url.Values) error {
	switch h.Driver {
	case Sandbox:
		if u.Host != "" || strings.Trim(u.Path+u.Opaque, "/") != "" {
			return errors.New("the sandbox has no address")
		}
	case Libvirt:
		reached := *u
		reached.RawQuery = kept.Encode()
		h.URL = reached.String()
	case Proxmox:
		h.TokenID = u.User.Username()
		h.URL, h.FirstID = (&url.URL{Scheme: "https", Host: u.Host}).String(), cmp.Or(h.FirstID, 1000)
		switch user, token, found := strings.Cut(h.TokenID, "!"); {
		case !found || token == "" || !strings.Contains(user, "@"):
			return errors.New("the URL needs a token, such as proxmox://panel@pve!token@host:8006")
		case u.Hostname() == "" || strings.Trim(u.Path, "/") != "":
			return errors.New("the URL needs a host and has no path, such as proxmox://panel@pve!token@host:8006")
		case h.Secret == "":
			return errors.New("secret_file is needed: a file with the token's secret")
		case h.Pool == "":
			return errors.New("storage is needed: that of the disks")
		}
	}
	return nil
}
