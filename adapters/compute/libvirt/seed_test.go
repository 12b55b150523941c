package libvirt_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kdomanski/iso9660"

	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain/compute"
)

// seedFiles are the files that cloud-init finds for a disk of a machine.
func seedFiles(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	image, err := iso9660.OpenImage(f)
	if err != nil {
		t.Fatal(err)
	}
	root, err := image.RootDir()
	if err != nil {
		t.Fatal(err)
	}
	children, err := root.GetChildren()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, child := range children {
		text, err := io.ReadAll(child.Reader())
		if err != nil {
			t.Fatal(err)
		}
		files[child.Name()] = string(text)
	}
	if label, err := image.Label(); err != nil || label != "cidata" {
		t.Errorf("the label is %q, %v", label, err)
	}
	return files
}

// hostname is what cloud-init is told.
func (b *bench) hostname(t *testing.T, m compute.Machine) string {
	t.Helper()
	var meta struct {
		Hostname string `json:"local-hostname"`
	}
	files := seedFiles(t, strings.TrimSuffix(b.disk(t, m), ".qcow2")+".cidata.iso")
	if err := json.Unmarshal([]byte(files["meta-data"]), &meta); err != nil {
		t.Fatal(err)
	}
	return meta.Hostname
}

// Cloud-init reads keys, the hash of a password and the network. No secret is in what
// libvirt tells of the machine.
func TestCloudInitIsToldOfKeysPasswordAndNetwork(t *testing.T) {
	const key, hash = "ssh-ed25519 AAAA ada@acme.test", "$6$salt$hash"
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	h, m := open(t, "qemu", server.Socket()), machine("vm77")
	m.On, m.Keys, m.Password = false, []string{key}, hash
	m.Network = compute.Network{
		Addresses:   []netip.Prefix{netip.MustParsePrefix("192.0.2.10/32"), netip.MustParsePrefix("2001:db8::10/64")},
		Gateways:    []netip.Addr{netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("fe80::1")},
		NameServers: []netip.Addr{netip.MustParseAddr("192.0.2.53")},
	}
	if _, err := h.Create(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	files := seedFiles(t, filepath.Join(server.Pool, "vm77."+m.ID.String()[:8]+".1.cidata.iso"))
	if names := slices.Sorted(maps.Keys(files)); !slices.Equal(names, []string{"meta-data", "network-config", "user-data"}) {
		t.Errorf("files %q", names)
	}
	for name, wants := range map[string][]string{
		"meta-data": {`"instance-id": "` + m.ID.String() + `-1"`, `"local-hostname": "vm77.example.test"`},
		"user-data": {"#cloud-config\n", key, hash, `"ssh_pwauth": true`, "PermitRootLogin yes"},
		"network-config": {
			compute.MAC(m.ID), "192.0.2.10/32", "2001:db8::10/64", `"via": "198.51.100.1"`, `"on-link": true`, "fe80::1", "192.0.2.53",
		},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("%s without %q: %s", name, want, files[name])
			}
		}
	}
	l := server.Connect(t, "qemu")
	d, err := l.DomainLookupByName("vm77")
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.DomainGetXMLDesc(d, 1) // with what libvirt holds to be secret
	if err != nil || strings.Contains(text, hash) || strings.Contains(text, key) {
		t.Errorf("it tells a secret: %s, %v", text, err)
	}

	m.Generation, m.Password, m.Network = 2, "", compute.Network{} // the hash goes with the next start
	if err := h.Change(t.Context(), m.ID.String(), m); err != nil {
		t.Fatal(err)
	}
	files = seedFiles(t, filepath.Join(server.Pool, "vm77."+m.ID.String()[:8]+".1.cidata.iso"))
	if strings.Contains(files["user-data"], hash) || !strings.Contains(files["user-data"], `"ssh_pwauth": false`) {
		t.Errorf("%s", files["user-data"])
	}
	if !strings.Contains(files["network-config"], `"dhcp4": true`) {
		t.Errorf("%s", files["network-config"])
	}
}
