package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/compute"
)

func secretFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("canary-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestHypervisorsAreReadFromTheirURLs(t *testing.T) {
	file := secretFile(t)
	pve := "pve=proxmox://panel@pve!hostpanel@pve1:8006/?storage=local-lvm&template=debian-13:9000&template=alma-9:alma&secret_file="
	for text, want := range map[string][]Hypervisor{
		"":        {{Name: "sandbox", Driver: Sandbox}},
		"sandbox": {{Name: "sandbox", Driver: Sandbox}},
		"a=sandbox:, b=sandbox:?host=one:16:32768:500&host=two:8:4096:100": {
			{Name: "a", Driver: Sandbox},
			{Name: "b", Driver: Sandbox, Hosts: []compute.Host{
				{Name: "one", Cores: 16, MemoryMB: 32768, DiskGB: 500}, {Name: "two", Cores: 8, MemoryMB: 4096, DiskGB: 100},
			}},
		},
		"node1=qemu+ssh://panel@node1:2222/system?pool=machines&known_hosts=/etc/hosts.known&grace=90s&switch=on": {{
			Name: "node1", Driver: Libvirt, URL: "qemu+ssh://panel@node1:2222/system?known_hosts=%2Fetc%2Fhosts.known", Pool: "machines",
			Grace: 90 * time.Second, Switch: true,
		}},
		"t=test+unix:///default?socket=/run/a%2Cb": {{Name: "t", Driver: Libvirt, URL: "test+unix:///default?socket=%2Frun%2Fa%2Cb"}},
		pve + file: {{
			Name: "pve", Driver: Proxmox, URL: "https://pve1:8006", TokenID: "panel@pve!hostpanel", Secret: "canary-1", Pool: "local-lvm",
			FirstID: 1000, Templates: map[string]string{"debian-13": "9000", "alma-9": "alma"},
		}},
	} {
		c, err := New(Settings{Compute: text}, false)
		if err != nil || !reflect.DeepEqual(c.Hypervisors, want) {
			t.Errorf("%s: %+v, %v", text, c, err)
			continue
		}
		if warned := strings.Contains(strings.Join(c.warnings, "\n"), "HOSTPANEL_COMPUTE"); warned != (want[0].Driver == Sandbox) {
			t.Errorf("%s: %q", text, c.warnings)
		}
		for _, one := range c.InForce("https://panel.example", "panel@example.com") {
			if strings.Contains(one.Value, "canary") || one.Name == "HOSTPANEL_COMPUTE" && strings.Contains(one.Value, "hostpanel@") {
				t.Errorf("%+v", one)
			}
		}
	}
}

func TestAMistakeAboutAHypervisorNamesIt(t *testing.T) {
	file, empty := secretFile(t), filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	proxmox := "pve=proxmox://panel@pve!hostpanel@pve1:8006/?storage=local-lvm&secret_file="
	second := "sandbox,proxmox://u@pve!t:canary-1@h?a=b"
	for text, says := range map[string]string{
		"proxmox":                             "hypervisor 1 is not name=URL",
		second:                                "hypervisor 2 is not name=URL",
		"Node=sandbox:":                       "hypervisor 1 is not name=URL",
		"a=sandbox:,a=sandbox:":               "two hypervisors are called a",
		"a=qemu:///system":                    `a: "qemu" is none of`,
		"a=qemu+tcp://node1/system":           `a: "qemu+tcp" is none of`,
		"a=qemu+ssh:///system":                "a: with qemu+ssh the URL needs a host",
		"a=qemu+ssh://u:canary-1@h/system":    "a: a URL has no password",
		"a=qemu+unix:///system?storage=x":     `a: "storage" is none of its options: emulated,`,
		"a=qemu+unix:///system?pool=x&pool=y": "a: pool: one value is needed",
		"a=qemu+unix:///system?pool=":         "a: pool: one value is needed",
		"a=qemu+unix:///system?switch=yes":    `a: switch: "yes" is neither on nor off`,
		"a=qemu+unix:///system?grace=2h":      `a: grace: "2h" is not a time from 1s to 1h`,
		"a=sandbox:?host=one:16:32768":        "a: host: ",
		"a=sandbox:?host=one:16:none:500":     "a: host: ",
		"a=sandbox://node1":                   "a: the sandbox has no address",
		proxmox:                               "pve: secret_file: one value is needed",
		proxmox + file + ".none":              "pve: secret_file: open ",
		proxmox + empty:                       "pve: secret_file: " + empty + " is empty",
		proxmox + file + "&first_id=99":       "pve: first_id: ",
		proxmox + file + "&template=debian":   "pve: template: ",
		"pve=proxmox://panel@pve1:8006/?storage=a&secret_file=" + file:     "pve: the URL needs a token",
		"pve=proxmox://p@pve!t@h:8006/nodes?storage=a&secret_file=" + file: "pve: the URL needs a host and has no path",
		"pve=proxmox://p@pve!t@h:8006/?secret_file=" + file:                "pve: storage is needed",
		"pve=proxmox://p@pve!t@h:8006/?storage=a":                          "pve: secret_file is needed",
	} {
		_, err := New(Settings{Compute: text}, false)
		if err == nil || !strings.HasPrefix(err.Error(), "HOSTPANEL_COMPUTE") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		} else if strings.Contains(err.Error(), "canary") {
			t.Errorf("a secret is told: %v", err)
		}
	}
	for text, is := range map[string]bool{
		"a=qemu+unix:///system": true, "sandbox": true, "a=test+unix:///default,b=qemu+ssh://p@node1/system": false,
	} {
		if _, err := New(Settings{Compute: text}, true); (err == nil) != is {
			t.Errorf("a demo with %s: %v", text, err)
		}
	}
}
