package proxmox

import (
	"context"
	"encoding/base64"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/compute"
)

// rescueDrive holds the rescue image. SATA drives are not changed while a machine runs, so
// the image counts with the next start, as the order of starting does.
const rescueDrive = "sata5"

// hashes are the password hashes that Proxmox leaves as they are. It hashes others once more.
var hashes = regexp.MustCompile(`^\$(?:[156]|2[ay])(\$.+){2}`)

// check refuses, before anything is made, what cannot be said to Proxmox.
func (h *Hypervisor) check(m compute.Machine) error {
	switch {
	case m.Hostname != "" && !isHostname(m.Hostname):
		return permanentf("bad_hostname", "cloud-init cannot be told the host name %q", m.Hostname)
	case m.Password != "" && !hashes.MatchString(m.Password):
		return permanent("bad_password", "Proxmox knows hashes of the kinds $1$, $2a$, $2y$, $5$ and $6$")
	case m.Rescue && h.settings.Rescue == "":
		return permanent("not_supported", "no rescue image was set")
	}
	_, err := ipconfig(m.Network)
	return err
}

// readsOtherwise are words that YAML reads as something else than a text: Proxmox writes the
// host name for cloud-init without quotes.
var readsOtherwise = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|[0-9.]+(e[0-9]+)?|0x[0-9a-f]+|0o?[0-7]+|0b[01]+)$`)

func isHostname(name string) bool {
	parts := strings.Split(name, ".")
	spoilt := slices.ContainsFunc(parts, func(part string) bool { return !label.MatchString(part) })
	return len(name) <= 253 && !spoilt && !readsOtherwise.MatchString(parts[0]) && !readsOtherwise.MatchString(name)
}

// configure sets what differs, in one call. A password counts only while the disk is made.
func (h *Hypervisor) configure(ctx context.Context, v *vm, m compute.Machine, fresh bool) error {
	want, err := h.wanted(v, m)
	if err != nil {
		return err
	}
	form := url.Values{}
	for key, value := range want {
		if !sameSetting(key, v.next[key], value) {
			form.Set(key, value)
		}
	}
	if fresh && m.Password != "" {
		form.Set("cipassword", m.Password)
	}
	for _, key := range unwanted(v, want) {
		form.Set("delete", strings.TrimPrefix(form.Get("delete")+","+key, ","))
	}
	if len(form) == 0 {
		return nil
	}
	return h.api.put(ctx, v.path()+"/config", form)
}

// wanted are the settings of a machine. They count with its next start, except the network
// and the description.
func (h *Hypervisor) wanted(v *vm, m compute.Machine) (map[string]string, error) {
	v.mark.Generation, v.mark.Disk, v.mark.Service = m.Generation, m.Disk, m.Service
	want := map[string]string{
		"name": hostname(m), "description": v.mark.write(v.others), "onboot": flag(m.On),
		"cores": strconv.FormatInt(m.Cores, 10), "memory": strconv.FormatInt(m.MemoryMB, 10),
		"smbios1": firmware(m), "net0": card(v.next["net0"], m),
		"ciuser": "root", "nameserver": joined(m.Network.NameServers), "sshkeys": escaped(m.Keys),
	}
	if v.next["protection"] == "1" && !v.mark.Ready { // the template's; later it is an operator's
		want["protection"] = "0"
	}
	if whole(v.next["sockets"]) > 1 {
		want["sockets"] = "1"
	}
	if whole(v.next["balloon"]) > m.MemoryMB {
		want["balloon"] = want["memory"]
	}
	if err := h.drives(v, m, want); err != nil {
		return nil, err
	}
	config, err := ipconfig(m.Network)
	want["ipconfig0"] = config
	return want, err
}

// drives adds the drive of cloud-init, and the rescue image with the order of starting.
func (h *Hypervisor) drives(v *vm, m compute.Machine, want map[string]string) error {
	hasCloudInit := false
	for _, value := range v.next {
		hasCloudInit = hasCloudInit || strings.Contains(value, "-cloudinit") && strings.Contains(value, "media=cdrom")
	}
	if !hasCloudInit {
		free := slices.IndexFunc(cloudInitDrives, func(key string) bool { return v.next[key] == "" })
		if free < 0 {
			return permanentf("no_template", "machine %d has no room for the drive of cloud-init", v.id)
		}
		want[cloudInitDrives[free]] = h.settings.Storage + ":cloudinit"
	}
	if m.Rescue {
		want[rescueDrive] = h.settings.Rescue + ",media=cdrom"
		want["boot"] = "order=" + rescueDrive + ";" + v.disk()
	} else if strings.HasPrefix(readProperties(v.next["boot"])["order"], rescueDrive) {
		want["boot"] = "order=" + v.disk()
	}
	return nil
}

var cloudInitDrives = []string{"ide2", "ide0", "ide1", "ide3"}

// unwanted are settings that are there and are to go. An empty value cannot be set.
func unwanted(v *vm, want map[string]string) []string {
	return slices.DeleteFunc([]string{"nameserver", "sshkeys", rescueDrive}, func(key string) bool {
		return v.next[key] == "" || want[key] != ""
	})
}

// firmware has the machine's id, and as the serial number that of its start.
func firmware(m compute.Machine) string {
	serial := base64.StdEncoding.EncodeToString([]byte(strconv.FormatInt(m.Boot, 10)))
	return "uuid=" + m.ID.String() + ",base64=1,serial=" + serial
}

// card is the network card. Its bridge is that of the template if none is named.
func card(have string, m compute.Machine) string {
	bridge := m.Network.Bridge
	if bridge == "" {
		bridge = readProperties(have)["bridge"]
	}
	if bridge == "" {
		bridge = "vmbr0"
	}
	p := properties{"virtio": strings.ToUpper(compute.MAC(m.ID)), "bridge": bridge, "firewall": "1"}
	if m.Network.VLAN != 0 {
		p["tag"] = strconv.FormatInt(m.Network.VLAN, 10)
	}
	if m.Network.RateMbit != 0 { // in megabytes
		p["rate"] = strconv.FormatFloat(float64(m.Network.RateMbit)/8, 'f', -1, 64)
	}
	return p.write()
}

// ipconfig is what cloud-init sets in the guest. It has room for one address of each family.
func ipconfig(n compute.Network) (string, error) {
	p := properties{}
	for _, prefix := range n.Addresses {
		name := "ip"
		if prefix.Addr().Is6() {
			name = "ip6"
		}
		if p[name] != "" {
			return "", permanent("bad_network", "Proxmox gives a machine one IPv4 and one IPv6 address")
		}
		p[name] = prefix.String()
	}
	for _, gateway := range n.Gateways {
		if gateway.Is4() && p["ip"] != "" {
			p["gw"] = gateway.String()
		} else if gateway.Is6() && p["ip6"] != "" {
			p["gw6"] = gateway.String()
		}
	}
	if len(p) == 0 {
		p["ip"], p["ip6"] = "dhcp", "auto"
	}
	return p.write(), nil
}

func joined(addresses []netip.Addr) string {
	var all []string
	for _, a := range addresses {
		all = append(all, a.String())
	}
	return strings.Join(all, " ")
}

// escaped is the form of keys: Proxmox takes them URL-encoded, as a value that is then
// encoded once more as a part of the form.
func escaped(keys []string) string {
	return strings.ReplaceAll(url.QueryEscape(strings.Join(keys, "\n")), "+", "%20")
}

func flag(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// sameSetting compares a setting with what is wanted; an empty one is not set.
func sameSetting(key, have, want string) bool {
	switch key {
	case "net0":
		return sameProperties(strings.ToLower(have), strings.ToLower(want))
	case "smbios1", "ipconfig0", rescueDrive:
		return sameProperties(have, want)
	case "description":
		return strings.TrimSpace(have) == strings.TrimSpace(want)
	case "onboot":
		return have == want || have == "" && want == "0"
	case "memory":
		p := readProperties(have)
		return p[""]+p["current"] == want
	}
	return have == want
}
