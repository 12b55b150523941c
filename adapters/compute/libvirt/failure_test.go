package libvirt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain"
)

func TestAddressesAreThoseOfVirsh(t *testing.T) {
	for url, want := range map[string]string{
		"qemu:///system": "",
		"qemu+unix:///system?socket=/run/lv/sock":                   "",
		"qemu+tls://node1.example.test/system?pkipath=/etc/panel":   "",
		"qemu+ssh://panel@node1.example.test:2222/system?keyfile=k": "",
		"qemu+tcp://node1.example.test/system":                      "transports are",
		"xen:///system":                                             "drivers are",
		"qemu+ssh://a b/":                                           "not a URL",
	} {
		_, err := libvirt.New(libvirt.Config{URL: url, Installation: installation, Now: time.Now})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func fails(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	var f *domain.Failure
	if !errors.As(err, &f) || f.Class != class || f.Code != code {
		t.Errorf("a %s failure %s was expected, not: %v", class, code, err)
	}
}

// A hypervisor that is not there has certainly done nothing.
func TestAHypervisorThatIsNotThereIsUnreachable(t *testing.T) {
	h := open(t, "qemu", filepath.Join(t.TempDir(), "none"))
	_, err := h.Create(t.Context(), machine("vm1"))
	fails(t, err, domain.Transient, "unreachable")
	_, err = h.List(t.Context())
	fails(t, err, domain.Transient, "unreachable")
}

// A call ends with its context, whatever libvirt does. What it has changed is unknown; what
// it was to read can be read later.
func TestACallEndsWithItsContext(t *testing.T) {
	server := libvirttest.Start(t)
	proxy := libvirttest.NewProxy(t, server.Socket())
	h := open(t, "qemu", proxy.Socket)
	for _, c := range []struct {
		class domain.Class
		call  func(context.Context) error
	}{
		{domain.Transient, func(ctx context.Context) error { _, err := h.List(ctx); return err }},
		{domain.Unknown, func(ctx context.Context) error { return h.Change(ctx, "", machine("vm1")) }},
	} {
		proxy.Silence(false)
		if _, err := h.List(t.Context()); err != nil { // the connection is there
			t.Fatal(err)
		}
		proxy.Silence(true)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := c.call(ctx)
		cancel()
		fails(t, err, c.class, "no_answer")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := h.Create(ctx, machine("vm1")) // it does not come to a connection
	fails(t, err, domain.Transient, "unreachable")
	proxy.Silence(false)
	if _, err := h.List(t.Context()); err != nil {
		t.Error(err)
	}
}

// A connection that libvirt has ended is made anew by the next call.
func TestALostConnectionIsMadeAnew(t *testing.T) {
	server := libvirttest.Start(t)
	h := open(t, "qemu", server.Socket())
	for range 2 {
		if _, err := h.Hosts(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Restart(t)
	}
}

// A connection that is closed with the end of a call's context serves no later call.
func TestTheEndOfACallEndsNoOther(t *testing.T) {
	h := open(t, "qemu", libvirttest.Start(t).Socket())
	for range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		if err := h.Call(ctx, cancel); err != nil {
			t.Fatal(err)
		}
		if _, err := h.List(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A copy that takes longer than its call goes on, and is made once.
func TestACopyOutlivesItsCall(t *testing.T) {
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	proxy := libvirttest.NewProxy(t, server.Socket())
	h, m := open(t, "qemu", proxy.Socket), machine("vm77")
	m.On = false
	release := proxy.Hold(libvirttest.VolumeCopy)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := h.Create(ctx, m)
	fails(t, err, domain.Waiting, "moving")
	fails(t, h.Remove(t.Context(), "", m), domain.Waiting, "moving")
	if err := os.Rename(filepath.Join(server.Pool, "empty.qcow2"), filepath.Join(server.Pool, "gone")); err != nil {
		t.Fatal(err)
	}
	release()
	if _, err := h.Create(t.Context(), m); err != nil { // it copies no template again
		t.Fatal(err)
	}
}

// The daemon is killed after the disk is copied, and once more while it is copied: the
// machine is made once, and its disk is whole.
func TestLibvirtIsRestartedBetweenCloneAndDefine(t *testing.T) {
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	proxy := libvirttest.NewProxy(t, server.Socket())
	h := open(t, "qemu", proxy.Socket)
	m := machine("vm77")
	m.On = false
	prefix := filepath.Join(server.Pool, "vm77."+m.ID.String()[:8])
	// A copy that was cut short has left half a disk.
	if err := os.WriteFile(prefix+".1.qcow2", []byte("half a disk"), 0o600); err != nil {
		t.Fatal(err)
	}
	server.Refresh(t)
	if seen, found, err := h.Find(t.Context(), m); err != nil || !found || !seen.Partial || !seen.Ours || seen.ID != m.ID {
		t.Errorf("half a disk is found as %+v, %t, %v", seen, found, err)
	}
	cut := proxy.CutAfter(libvirttest.VolumeUpload)
	_, err := h.Create(t.Context(), m)
	fails(t, err, domain.Unknown, "no_answer")
	if !cut() {
		t.Fatal("nothing was uploaded")
	}
	server.Restart(t)
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	libvirttest.Run(t, "qemu-img", "check", "-q", prefix+".1.qcow2")
	all, err := h.List(t.Context())
	if err != nil || len(all) != 1 || all[0].External != external || all[0].Partial || all[0].DiskGB != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := h.Remove(t.Context(), external, m); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(prefix + "*"); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}
