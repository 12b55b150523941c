package libvirt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kdomanski/iso9660"

	"hostpanel/domain/compute"
)

// seedBytes is the size of a volume with what cloud-init reads.
const seedBytes = 1 << 20

type object = map[string]any

// seed is the image that cloud-init's source NoCloud reads. Its files are JSON, which YAML
// includes.
func seed(m compute.Machine, number int64) ([]byte, error) {
	w, err := iso9660.NewWriter()
	if err != nil {
		return nil, fmt.Errorf("write for cloud-init: %w", err)
	}
	defer func() { _ = w.Cleanup() }()
	files := map[string]object{"meta-data": metaData(m, number), "user-data": userData(m), "network-config": networkConfig(m)}
	for name, content := range files {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return nil, err
		}
		if name == "user-data" {
			text = append([]byte("#cloud-config\n"), text...)
		}
		if err := w.AddFile(bytes.NewReader(append(text, '\n')), name); err != nil {
			return nil, fmt.Errorf("write %s for cloud-init: %w", name, err)
		}
	}
	var image bytes.Buffer
	if err := w.WriteTo(&image, "cidata"); err != nil {
		return nil, fmt.Errorf("write for cloud-init: %w", err)
	}
	if image.Len() > seedBytes {
		return nil, permanent("refused", "the keys of the machine are too long")
	}
	return append(image.Bytes(), make([]byte, seedBytes-image.Len())...), nil
}

// metaData names the instance: what cloud-init does once, it does for each. A disk that goes
// back to a snapshot is the same instance.
func metaData(m compute.Machine, number int64) object {
	instance := fmt.Sprintf("%s-%d", m.ID, number)
	if m.Rescue {
		instance += fmt.Sprintf("-rescue-%d", m.Boot)
	}
	return object{"instance-id": instance, "local-hostname": m.Hostname}
}

// userData lets root sign in with the keys, and with the password if there is one.
func userData(m compute.Machine) object {
	data := object{
		"hostname": m.Hostname, "preserve_hostname": false, "disable_root": false, "ssh_authorized_keys": m.Keys,
		"ssh_pwauth": m.Password != "", "growpart": object{"mode": "auto", "devices": []string{"/"}}, "resize_rootfs": true,
	}
	if m.Password != "" {
		data["chpasswd"] = object{"expire": false, "users": []object{{"name": "root", "password": m.Password, "type": "hash"}}}
		data["write_files"] = []object{{"path": "/etc/ssh/sshd_config.d/10-hostpanel.conf", "content": "PermitRootLogin yes\n"}}
	}
	return data
}

func networkConfig(m compute.Machine) object {
	card := object{"match": object{"macaddress": compute.MAC(m.ID)}}
	if len(m.Network.Addresses) == 0 {
		card["dhcp4"] = true
	} else {
		card["addresses"], card["routes"] = m.Network.Addresses, routes(m.Network)
	}
	if len(m.Network.NameServers) > 0 {
		card["nameservers"] = object{"addresses": m.Network.NameServers}
	}
	return object{"version": 2, "ethernets": object{"card0": card}}
}

// routes lead to the gateways. One that is in no network of the machine is on its link.
func routes(n compute.Network) (all []object) {
	for _, gateway := range n.Gateways {
		to := "0.0.0.0/0"
		if gateway.Is6() {
			to = "::/0"
		}
		route := object{"to": to, "via": gateway}
		if !slices.ContainsFunc(n.Addresses, func(p netip.Prefix) bool { return p.Contains(gateway) }) && !gateway.IsLinkLocalUnicast() {
			route["on-link"] = true
		}
		all = append(all, route)
	}
	return all
}

// writeSeed puts into a machine's volume what cloud-init is to read; it makes the volume if
// there is none. libvirt's test driver holds no contents.
func (h *Hypervisor) writeSeed(s *session, p pool, m compute.Machine, number int64) error {
	image, err := seed(m, number)
	if err != nil {
		return err
	}
	v, there, err := s.volume(p, seedName(m, number))
	if err != nil {
		return err
	}
	if !there {
		text, err := volumeXML(seedName(m, number), seedBytes, "raw").Marshal()
		if err != nil {
			return err
		}
		if v, err = s.StorageVolCreateXML(p.StoragePool, text, 0); err != nil {
			return err
		}
	}
	if h.target.hollow {
		return nil
	}
	return s.StorageVolUpload(v, bytes.NewReader(image), 0, seedBytes, 0)
}

// machineName is a name that libvirt, file systems and logs have as it is.
var machineName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// check refuses what would not reach a machine as it was asked for.
func check(m compute.Machine) error {
	switch {
	case !machineName.MatchString(m.Name):
		return permanent("refused", "a machine has no such name: %q", m.Name)
	case m.Cores < 1 || m.MemoryMB < 1 || m.DiskGB < 1:
		return permanent("refused", "a machine has cores, memory and a disk")
	case slices.ContainsFunc(m.Keys, func(key string) bool { return strings.ContainsAny(key, "\r\n") }):
		return permanent("refused", "an SSH key has several lines")
	case !utf8.ValidString(m.Hostname) || strings.ContainsFunc(m.Hostname, unicode.IsControl):
		return permanent("refused", "a host name has no such characters")
	}
	return nil
}
