package program_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
)

func TestEveryHypervisorOfTheSettingsIsOpened(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary-1"), 0o600); err != nil {
		t.Fatal(err)
	}
	pve := "proxmox://panel@pve!hostpanel@pve1:8006/?storage=local-lvm&secret_file=" + secret
	settings, err := config.New(config.Settings{Compute: strings.Join([]string{
		"a=sandbox:?host=one:16:32768:500", "b=test+unix:///default?socket=/nowhere", "c=qemu+unix:///system?pool=machines&grace=5m",
		"d=" + pve, "e=" + pve + "&fingerprint=0f",
	}, ",")}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range settings.Hypervisors[:4] {
		opened, err := program.OpenHypervisor(h, program.Place{Installation: "test"})
		if err != nil || opened.Server() != h.Name {
			t.Errorf("%s: %v, %v", h.Name, opened, err)
			continue
		}
		program.CloseHypervisor(opened)
	}
	_, err = program.OpenHypervisor(settings.Hypervisors[4], program.Place{Installation: "test"})
	if err == nil || !strings.HasPrefix(err.Error(), "HOSTPANEL_COMPUTE, e: ") || strings.Contains(err.Error(), "canary") {
		t.Errorf("%v", err)
	}
}
