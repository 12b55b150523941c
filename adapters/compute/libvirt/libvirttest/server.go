// Package libvirttest starts libvirt for tests: a daemon of its own, with QEMU and with
// libvirt's test driver, that knows nothing of the machine's own one.
package libvirttest

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	rpc "github.com/digitalocean/go-libvirt"
	"github.com/digitalocean/go-libvirt/socket/dialers"
)

// A Server is a libvirt of a test.
type Server struct {
	Folder string // of all that it has
	Pool   string // folder of the storage pool "machines"
	Serial string // folder for logs of serial consoles

	unshare []string // flags of the program
	network string   // for the script
	daemon  *exec.Cmd
}

//go:embed start.sh
var startScript string

// Start starts a server that ends with the test. Where it cannot, the test is skipped and
// says why.
func Start(t testing.TB) *Server {
	t.Helper()
	return begin(t, "none", nil)
}

// StartWithBridge starts a server in a network of its own, with a bridge "br0".
func StartWithBridge(t testing.TB) *Server {
	t.Helper()
	Need(t, "ip", "ebtables", "nsenter")
	return begin(t, "bridge", nil, "--net")
}

func begin(t testing.TB, network string, before func(*Server), unshare ...string) *Server {
	t.Helper()
	unshare = append(unshare, "--mount", "--propagation", "private")
	Need(t, "libvirtd", "qemu-system-x86_64", "qemu-img", "unshare", "mount")
	if os.Geteuid() != 0 {
		t.Skip("libvirt's daemon is started by root alone")
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", append(slices.Clone(unshare), "true")...).CombinedOutput(); err != nil {
		t.Skipf("there are no mounts of its own for libvirt here: %s", bytes.TrimSpace(out))
	}
	folder, err := os.MkdirTemp("", "lv")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Folder: folder, Pool: filepath.Join(folder, "pool"), Serial: filepath.Join(folder, "serial")}
	s.unshare, s.network = unshare, network
	t.Cleanup(func() {
		s.end(t)
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	s.makeFolders(t)
	if before != nil {
		before(s)
	}
	s.start(t)
	s.makePool(t)
	return s
}

func (s *Server) makeFolders(t testing.TB) {
	t.Helper()
	if err := errors.Join(os.Mkdir(s.Pool, 0o755), os.Mkdir(s.Serial, 0o755)); err != nil {
		t.Fatal(err)
	}
}

// Rules are the rules of the server's network for frames of bridges.
func (s *Server) Rules(t testing.TB) string {
	t.Helper()
	return Run(t, "nsenter", "--target", strconv.Itoa(s.daemon.Process.Pid), "--net", "ebtables", "-t", "nat", "-L")
}

// Need skips a test without programs.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is missing", program)
		}
	}
}

// Socket is where the server listens.
func (s *Server) Socket() string { return filepath.Join(s.Folder, "libvirt-sock") }

// URL is the address of a driver over a socket, as virsh has it.
func URL(driver, socket string) string {
	path := map[string]string{"qemu": "/system", "test": "/default"}[driver]
	return driver + "+unix://" + path + "?socket=" + socket
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	// It outlives the context of a test, which ends before its cleanup.
	arguments := append(slices.Clone(s.unshare), "sh", "-c", startScript, "start.sh", s.Folder, cache(t), s.network)
	s.daemon = exec.CommandContext(context.WithoutCancel(t.Context()), "unshare", arguments...)
	var said bytes.Buffer
	s.daemon.Stdout, s.daemon.Stderr = &said, &said
	if err := s.daemon.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func(daemon *exec.Cmd) { _ = daemon.Wait(); close(ended) }(s.daemon)
	for begun := time.Now(); !s.answers(); {
		select {
		case <-ended:
			log, _ := os.ReadFile(filepath.Join(s.Folder, "libvirtd.log"))
			t.Fatalf("libvirt's daemon has ended: %s%s", said.Bytes(), log)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("libvirt's daemon does not answer")
		}
	}
}

// cache is a folder for what tests share.
func cache(t testing.TB) string {
	t.Helper()
	folder, err := os.UserCacheDir()
	if err != nil {
		folder = os.TempDir()
	}
	folder = filepath.Join(folder, "hostpanel-libvirt")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func (s *Server) answers() bool {
	l := rpc.NewWithDialer(dialers.NewLocal(dialers.WithSocket(s.Socket())))
	return l.ConnectToURI(rpc.QEMUSystem) == nil && l.Disconnect() == nil
}

// Restart kills the daemon and starts it again. Machines that run go on.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.stop()
	s.start(t)
}

func (s *Server) stop() {
	if s.daemon == nil || s.daemon.Process == nil {
		return
	}
	_ = s.daemon.Process.Kill()
	for begun := time.Now(); s.daemon.Process.Signal(syscall.Signal(0)) == nil && time.Since(begun) < 10*time.Second; {
		time.Sleep(5 * time.Millisecond)
	}
	_ = os.Remove(s.Socket())
}

// end stops the daemon and the machines that it has left.
func (s *Server) end(t testing.TB) {
	s.stop()
	pids, err := filepath.Glob(filepath.Join(s.Folder, "run/libvirt/qemu/*.pid"))
	if err != nil {
		t.Error(err)
	}
	for _, path := range pids {
		text, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && s.isQEMU(pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func (s *Server) isQEMU(pid int) bool {
	line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return bytes.Contains(line, []byte("qemu-system")) && bytes.Contains(line, []byte(s.Folder))
}

// Connect returns a connection of the library's own, which ends with the test.
func (s *Server) Connect(t testing.TB, driver string) *rpc.Libvirt {
	t.Helper()
	l := rpc.NewWithDialer(dialers.NewLocal(dialers.WithSocket(s.Socket())))
	uri := map[string]rpc.ConnectURI{"qemu": rpc.QEMUSystem, "test": rpc.TestDefault}[driver]
	if err := l.ConnectToURI(uri); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Disconnect(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Logf("disconnect: %v", err)
		}
	})
	return l
}

func (s *Server) makePool(t testing.TB) {
	t.Helper()
	l := s.Connect(t, "qemu")
	pool, err := l.StoragePoolDefineXML(`<pool type="dir"><name>machines</name><target><path>`+s.Pool+`</path></target></pool>`, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.StoragePoolCreate(pool, 0); err != nil {
		t.Fatal(err)
	}
	if err := l.StoragePoolSetAutostart(pool, 1); err != nil {
		t.Fatal(err)
	}
}

// Refresh lets the pool see files that were put into its folder.
func (s *Server) Refresh(t testing.TB) {
	t.Helper()
	l := s.Connect(t, "qemu")
	pool, err := l.StoragePoolLookupByName("machines")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.StoragePoolRefresh(pool, 0); err != nil {
		t.Fatal(err)
	}
}

// EmptyTemplate puts a template into the pool whose disk nothing boots from.
func (s *Server) EmptyTemplate(t testing.TB, name string) {
	t.Helper()
	Run(t, "qemu-img", "create", "-q", "-f", "qcow2", filepath.Join(s.Pool, name), "64M")
	s.Refresh(t)
}

// Run runs a program that has to succeed, and returns what it says.
func Run(t testing.TB, program string, arguments ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, arguments...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(c.Args, " "), err, out)
	}
	return string(out)
}

// Starts is how often QEMU was started for a machine.
func (s *Server) Starts(t testing.TB, name string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.Folder, "var/log/libvirt/qemu", name+".log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return bytes.Count(log, []byte(": starting up libvirt version"))
}
