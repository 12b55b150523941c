package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/cmd/hostpanel/console"
)

// A hypervisor is tried with machines of the check's own, and keeps none of them.
func TestAHypervisorIsTriedWithoutLeavingATrace(t *testing.T) {
	p, _ := demoForCommands(t)
	t.Setenv("HOSTPANEL_COMPUTE", "one=sandbox:,two=sandbox:?host=big:16:32768:500&host=small:1:512:10")
	machines := func() (n int) {
		t.Helper()
		if err := p.Pool.QueryRow(t.Context(), `select count(*) from sandbox_compute.machines`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := machines()
	command := func(code int, want []string, flags ...string) {
		t.Helper()
		got, out, complaint := told(t, append([]string{"compute", "check", "--data-dir", t.TempDir()}, flags...)...)
		for _, one := range want {
			if got != code || !strings.Contains(out+complaint, one) {
				t.Errorf("%v ends with %d, without %q: %s%s", flags, got, one, out, complaint)
			}
		}
		if now := machines(); now != before {
			t.Errorf("%v has left %d machines", flags, now-before)
		}
	}
	command(console.Usage, []string{"say which hypervisor: one, two"}, "--yes")
	command(console.Usage, []string{"this makes machines on two, and removes them: say --yes"}, "two")
	command(console.Usage, []string{"--address: "}, "two", "--yes", "--address", "192.0.2.7")
	command(console.Done, []string{
		"held      a machine is made, found, listed and removed",
		"held      a machine of another installation is a stranger's",
		"held      what was done without an answer is done once",
		"not tried a disk is made anew from its template once: disks cannot be read here",
		"not tried no lost answer doubles a machine, or leaves a part of one: answers cannot be lost here",
		" 0 failed",
	}, "two", "--yes", "--bridge", "br0", "--address", "192.0.2.7/24", "--gateway", "192.0.2.1")
	command(console.Done, []string{"held      no lost answer doubles a machine", "1 held, 0 failed, 0 not tried"},
		"one", "--yes", "--interrupt", "--only", "no lost answer")
	command(console.Done, []string{"nothing is left whose name begins with hpnone"}, "one", "--yes", "--clean", "hpnone")
	command(console.Failed, []string{
		"failed    a machine is made, found, listed and removed", "node_full", "hostpanel compute check two --yes --clean hp",
	}, "two", "--yes", "--only", "made, found", "--host", "small", "--memory", "1024")
}

// The command needs no database where the hypervisor is not the sandbox. No token is told.
func TestAClusterOfProxmoxIsTried(t *testing.T) {
	pve := proxmoxtest.Start()
	defer pve.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte(proxmoxtest.Secret+"\n"), 0o600))
	t.Setenv("HOSTPANEL_COMPUTE", "pve=proxmox://"+proxmoxtest.Token+"@"+strings.TrimPrefix(pve.URL(), "https://")+
		"/?storage=local-lvm&fingerprint="+pve.Fingerprint()+"&secret_file="+secret)
	before := len(pve.Machines())
	code, out, complaint := told(t, "compute", "check", "--yes", "--bridge", "vmbr1", "--address", "192.0.2.77/24", "--only", "made, found")
	if code != console.Done || !strings.Contains(out, "held      a machine is made, found, listed and removed") {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	pve.Close()
	code, out, complaint = told(t, "compute", "check", "pve", "--yes")
	if code != console.Failed || strings.Contains(out+complaint, proxmoxtest.Secret) || complaint == "" {
		t.Errorf("%d: %s%s", code, out, complaint)
	}
	if now := len(pve.Machines()); now != before {
		t.Errorf("%d machines are left", now-before)
	}
}
