package libvirttest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

//go:embed template.sh
var templateScript string

//go:embed guest.sh
var guestScript string

// BootableTemplates puts two templates into the pool from whose disks a machine starts:
// "own.qcow2", and "rescue.qcow2" for a rescue system. Their system reports on the serial
// console what it is. They are made once and kept in the user's cache.
func (s *Server) BootableTemplates(t testing.TB) {
	t.Helper()
	Need(t, "apt-get", "apt-cache", "dpkg", "busybox", "mkfs.vfat", "syslinux", "mcopy", "gzip")
	digest := sha256.Sum256([]byte(templateScript + guestScript))
	folder := filepath.Join(cache(t), "template-"+hex.EncodeToString(digest[:6]))
	images := []string{"own.qcow2", "rescue.qcow2"}
	if _, err := os.Stat(filepath.Join(folder, images[1])); err != nil {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		script := exec.CommandContext(t.Context(), "sh", "-c", templateScript, "template.sh", folder, guestScript)
		if out, err := script.CombinedOutput(); err != nil {
			t.Skipf("the template cannot be made here: %v: %s", err, out)
		}
	}
	for _, image := range images {
		Run(t, "cp", filepath.Join(folder, image), s.Pool)
	}
	s.Refresh(t)
}

// A Report is what the system of a machine says about itself.
type Report struct{ System, UUID, MAC, Addresses, Host, Starts, Bytes string }

var report = regexp.MustCompile(`GUEST (\w*) uuid=(\S*) mac=(\S*) addresses=(\S*) host=(\S*) starts=(\S*) bytes=(\S*) END`)

// Report waits for the nth report of a machine's system, from 1.
func (s *Server) Report(t testing.TB, machine string, n int) Report {
	t.Helper()
	var log []byte
	for begun := time.Now(); time.Since(begun) < 3*time.Minute; time.Sleep(50 * time.Millisecond) {
		log, _ = os.ReadFile(filepath.Join(s.Serial, machine+".log"))
		if found := report.FindAllSubmatch(log, -1); len(found) >= n {
			f := found[n-1]
			return Report{string(f[1]), string(f[2]), string(f[3]), string(f[4]), string(f[5]), string(f[6]), string(f[7])}
		}
	}
	t.Fatalf("the system of %s has not reported %d times: %s", machine, n, log)
	return Report{}
}
