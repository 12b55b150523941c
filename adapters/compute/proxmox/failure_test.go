package proxmox_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

func TestATaskThatFailsIsReadByItsText(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		kind, text string
		class      domain.Class
		code       string
	}{
		{"qmclone", "clone failed: not enough free space (1 < 2)", domain.Permanent, "node_full"},
		{"qmclone", "clone failed: qemu-img: error while writing sector 1: No space left on device", domain.Permanent, "node_full"},
		{"qmclone", "can't lock file '/var/lock/qemu-server/lock-1077.conf' - got timeout", domain.Waiting, "moving"},
		{"qmclone", "unable to create VM 1077: config file already exists", domain.Transient, "exists"},
		{"qmclone", "clone failed: Linked clone feature is not supported for 'a:b' (scsi0)", domain.Permanent, "no_template"},
		{"qmclone", "clone failed: something else", domain.Transient, "task_failed"},
		{"qmclone", "unexpected status", domain.Unknown, "task_cut"},
		{"resize", "shrinking disks is not supported", domain.Permanent, "disk_shrinks"},
		{"qmstart", "start failed: QEMU exited with code 1", domain.Transient, "task_failed"},
		{"qmstart", "cannot set up guest memory 'pc.ram': Cannot allocate memory", domain.Permanent, "node_full"},
	} {
		pve := cluster(t)
		h := panel(t, pve, "ours", nil)
		pve.Faults.FailTask(of.kind, of.text)
		_, err := h.Create(t.Context(), vm77())
		fails(t, err, of.class, of.code)
		if made(t, h, vm77()); pve.Clones(1077) != 1 {
			t.Errorf("%s: %d clones", of.text, pve.Clones(1077))
		}
	}
}

func TestAFullStorageIsToldBeforeACloneBegins(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	m.DiskGB = 600
	_, err := panel(t, pve, "ours", nil).Create(t.Context(), m)
	fails(t, err, domain.Permanent, "node_full")
	if len(pve.Machines()) != 0 {
		t.Error("a machine was begun")
	}
}

// The template's own protection is not passed on; that of an operator counts.
func TestAProtectedMachineStays(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	pve.Set(9000, "protection", "1")
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	if is := pve.Machine(1077).Config["protection"]; is != "0" {
		t.Errorf("its protection is %s", is)
	}
	pve.Set(1077, "protection", "1")
	changed(t, h, &m, func(m *compute.Machine) { m.Boot++ })
	fails(t, h.Remove(t.Context(), "1077", m), domain.Permanent, "protected")
}

// Each privilege is missed by its name; what was begun without it is completed with it.
func TestAMissingPrivilegeIsNamed(t *testing.T) {
	t.Parallel()
	// Another one does, or it can be done without.
	either := []string{"VM.Config.Cloudinit", "Datastore.Audit", "VM.GuestAgent.Audit"}
	for _, privilege := range proxmoxtest.Privileges {
		if slices.Contains(either, privilege) {
			continue
		}
		pve := cluster(t)
		h := panel(t, pve, "ours", nil)
		pve.Revoke(privilege)
		m := vm77()
		err := life(t.Context(), h, m)
		if domain.LackOf(err) != privilege || domain.ClassOf(err) != domain.Permanent {
			t.Errorf("%s: %v lacks %q", privilege, err, domain.LackOf(err))
		}
		pve.Grant(privilege)
		m.Disk += 2
		m.Generation += 3
		if err := life(t.Context(), h, m); err != nil {
			t.Errorf("%s: with it %v", privilege, err)
		}
	}
}

// life is all that is asked of a hypervisor, until it fails.
func life(ctx context.Context, h *proxmox.Hypervisor, m compute.Machine) error {
	for _, call := range []func() error{
		func() error { _, err := h.Hosts(ctx); return err },
		func() error { _, err := h.Create(ctx, m); return err },
		func() error { m.Generation, m.Disk = m.Generation+1, m.Disk+1; return h.Change(ctx, "1077", m) },
		func() error { m.Generation, m.Rescue = m.Generation+1, true; return h.Change(ctx, "1077", m) },
		func() error { return h.TakeSnapshot(ctx, "1077", m, "one") },
		func() error { _, err := h.Usage(ctx, "1077", m); return err },
		func() error {
			screen, password, err := h.Screen(ctx, "1077", m)
			if err != nil {
				return err
			}
			if password != proxmoxtest.ScreenPassword {
				err = fmt.Errorf("the password is %q", password)
			}
			_ = screen.Close()
			return err
		},
		func() error { return h.Remove(ctx, "1077", m) },
	} {
		if err := call(); err != nil {
			return err
		}
	}
	return nil
}

// Answers of the proxy before the API are no JSON; some have their text in the status line alone.
func TestAnswersHaveTheirClasses(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		status     int
		kind, body string
		class      domain.Class
		code       string
	}{
		{401, "text/plain", "", domain.Permanent, "denied"},
		{403, "application/json", `{"data":null,"message":"Permission check failed (/vms/9000, VM.Clone)\n"}`, domain.Permanent, "denied"},
		{400, "application/json", `{"data":null,"errors":{"vmid":"no"},"message":"Verification failed.\n"}`, domain.Permanent, "refused"},
		{404, "text/html", "<html>", domain.Permanent, "refused"},
		{301, "text/html", "", domain.Permanent, "refused"},
		{500, "application/json", `{"data":null,"message":"cluster not ready - no quorum?\n"}`, domain.Transient, "no_quorum"},
		{500, "text/plain", "proxy loop detected", domain.Transient, "failed"},
		{501, "application/json", `{"data":null,"message":"Method 'GET /cluster' not implemented"}`, domain.Permanent, "refused"},
		{503, "text/plain", "", domain.Transient, "node_away"},
		{595, "text/plain", "No route to host", domain.Transient, "node_away"},
		{596, "text/plain", "Connection timed out", domain.Unknown, "no_answer"},
		{599, "text/plain", "Too many redirections", domain.Unknown, "no_answer"},
		{502, "text/html", "<html>", domain.Unknown, "no_answer"},
		{200, "application/json", `{"data":`, domain.Unknown, "bad_answer"},
	} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", of.kind)
			w.WriteHeader(of.status)
			_, _ = w.Write([]byte(of.body))
		}))
		pve := cluster(t)
		h := panel(t, pve, "ours", func(s *proxmox.Settings) { s.URL = server.URL })
		_, err := h.List(t.Context())
		server.Close()
		fails(t, err, of.class, of.code)
	}
}

func TestAClusterIsRecognisedByItsCertificate(t *testing.T) {
	t.Parallel()
	pve := cluster(t)
	for name, of := range map[string]struct {
		with  func(*proxmox.Settings)
		fault string
	}{
		"its fingerprint": {func(*proxmox.Settings) {}, ""},
		"its authority":   {func(s *proxmox.Settings) { s.Fingerprint, s.CAFile = "", pve.CAFile(t) }, ""},
		"another one":     {func(s *proxmox.Settings) { s.Fingerprint = strings.Repeat("AB:", 31) + "AB" }, "unreachable"},
		"none":            {func(s *proxmox.Settings) { s.Fingerprint = "" }, "unreachable"},
		"no token":        {func(s *proxmox.Settings) { s.Secret = "not-the-secret-of-it" }, "denied"},
		"no server":       {func(s *proxmox.Settings) { s.URL = "https://127.0.0.1:1" }, "unreachable"},
	} {
		_, err := panel(t, pve, "ours", of.with).List(t.Context())
		if (err == nil) != (of.fault == "") || err != nil && !strings.Contains(err.Error(), of.fault) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), proxmoxtest.Secret) || strings.Contains(err.Error(), "not-the-secret")) {
			t.Errorf("%s: the secret is in %v", name, err)
		}
	}
}

func TestSettingsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	right := proxmox.Settings{URL: "https://pve1:8006", TokenID: "a@pve!b", Secret: "c", Storage: "local-lvm", FirstID: 1000}
	if _, err := proxmox.New(right); err != nil {
		t.Fatal(err)
	}
	for _, spoil := range []func(*proxmox.Settings){
		func(s *proxmox.Settings) { s.URL = "http://pve1:8006" },
		func(s *proxmox.Settings) { s.TokenID = "root@pam" },
		func(s *proxmox.Settings) { s.Secret = "" },
		func(s *proxmox.Settings) { s.Storage = "" },
		func(s *proxmox.Settings) { s.FirstID = 99 },
		func(s *proxmox.Settings) { s.Fingerprint = "AB:CD" },
		func(s *proxmox.Settings) { s.CAFile = "/dev/null" },
	} {
		s := right
		spoil(&s)
		if _, err := proxmox.New(s); err == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
