package proxmox_test

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// hasty waits for no task.
func hasty(s *proxmox.Settings) { s.Patience = time.Millisecond }

func cluster(t *testing.T) *proxmoxtest.Server {
	t.Helper()
	pve := proxmoxtest.Start()
	t.Cleanup(pve.Close)
	return pve
}

// vm77 is a machine as it is ordered; its number is 1077.
func vm77() compute.Machine {
	m := like()
	m.Name, m.Service, m.ID = "vm77", "0190-order", compute.ID("ours", "0190-order")
	m.Generation, m.Boot, m.Disk, m.On = 1, 1, 1, true
	m.Cores, m.MemoryMB, m.Hostname = 2, 2048, "shop.example.com"
	m.Keys = []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1q+/= ada@acme.test", "ssh-rsa AAAAB3 bob@acme.test"}
	m.Password = "$6$rounds=5000$c2FsdHNhbHQ$abcdefghijk"
	return m
}

func fails(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	f, is := errors.AsType[*domain.Failure](err)
	if !is || f.Class != class || f.Code != code {
		t.Errorf("a %s failure %s was expected, not: %v", class, code, err)
	}
}

// made repeats the creation until it does not have to wait.
func made(t *testing.T, h *proxmox.Hypervisor, m compute.Machine) (external string) {
	t.Helper()
	return patiently(t, func() (string, error) { return h.Create(t.Context(), m) })
}

func changed(t *testing.T, h *proxmox.Hypervisor, m *compute.Machine, wants func(*compute.Machine)) {
	t.Helper()
	m.Generation++
	wants(m)
	patiently(t, func() (string, error) { return "", h.Change(t.Context(), "1077", *m) })
}

func patiently(t *testing.T, call func() (string, error)) string {
	t.Helper()
	for range 200 {
		answer, err := call()
		if err == nil {
			return answer
		}
		if class := domain.ClassOf(err); class != domain.Waiting && class != domain.Transient {
			t.Fatal(err)
		}
	}
	t.Fatal("it is on its way for ever")
	return ""
}

func found(t *testing.T, h *proxmox.Hypervisor, m compute.Machine) compute.Seen {
	t.Helper()
	seen, is, err := h.Find(t.Context(), m)
	if err != nil || !is {
		t.Fatalf("%+v, %v, %v", seen, is, err)
	}
	return seen
}

func TestANewMachineHasAllThatWasOrdered(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	if external := made(t, h, m); external != "1077" {
		t.Errorf("it is called %s", external)
	}
	have := pve.Machine(1077)
	for what, is := range map[string][2]string{
		"name":        {have.Config["name"], "shop.example.com"},
		"address":     {have.Config["ipconfig0"], "gw=192.0.2.1,gw6=2001:db8::1,ip=192.0.2.77/24,ip6=2001:db8::77/64"},
		"name server": {have.Config["nameserver"], "192.0.2.53"},
		"user":        {have.Config["ciuser"], "root"},
		"password":    {have.Config["cipassword"], m.Password},
		"keys":        {have.Keys(), strings.Join(m.Keys, "\n")},
		"cores":       {have.Config["cores"], "2"},
		"memory":      {have.Config["memory"], "2048"},
		"MAC":         {have.Card()["virtio"], strings.ToUpper(compute.MAC(m.ID))},
		"bridge":      {have.Card()["bridge"], "vmbr1"},
		"VLAN":        {have.Card()["tag"], "7"},
		"rate":        {have.Card()["rate"], "12.5"},
		"firewall":    {have.Card()["firewall"] + have.Firewall["enable"] + have.Firewall["macfilter"] + have.Firewall["ipfilter"], "1111"},
		"policies":    {have.Firewall["policy_in"] + have.Firewall["policy_out"], "ACCEPTACCEPT"},
		"addresses":   {fmt.Sprint(have.Allowed), "[192.0.2.77 2001:db8::77]"},
		"boot":        {have.Serial(), "1"},
	} {
		if is[0] != is[1] {
			t.Errorf("its %s is %q, not %q", what, is[0], is[1])
		}
	}
	if !strings.Contains(have.Config["smbios1"], m.ID.String()) || !have.Running || pve.Clones(1077) != 1 {
		t.Errorf("%+v", have)
	}
	if seen := found(t, h, m); seen.Partial || seen.State != compute.Running || seen.DiskGB != 4 || seen.Service != m.Service {
		t.Errorf("%+v", seen)
	}
}

func TestACloneWithoutAnAnswerIsFoundAndNotMadeAgain(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	pve.Faults.Hold("qmclone")
	pve.Faults.LoseAnswerOf(calls["create"])
	_, err := panel(t, pve, "ours", hasty).Create(t.Context(), m)
	fails(t, err, domain.Unknown, "no_answer")
	h := panel(t, pve, "ours", hasty) // the panel was started anew meanwhile
	if seen := found(t, h, m); !seen.Partial || !seen.Ours || seen.ID != m.ID || seen.State != compute.Moving {
		t.Errorf("of a clone that has not written yet: %+v", seen)
	}
	for range 3 {
		_, err := h.Create(t.Context(), m)
		fails(t, err, domain.Waiting, "moving")
	}
	fails(t, h.Remove(t.Context(), "1077", m), domain.Waiting, "moving")
	pve.Faults.Pace(20)
	pve.Release("qmclone")
	for pve.Machine(1077) == nil {
		pve.Pass(1)
	}
	if all, err := h.List(t.Context()); err != nil || len(all) != 1 || all[0].Name != "vm77" || !all[0].Partial || all[0].Ours {
		t.Errorf("of a clone that has no mark yet: %+v, %v", all, err)
	}
	pve.Faults.Pace(1)
	made(t, h, m)
	if pve.Tasks("qmclone") != 1 || len(pve.Machines()) != 1 {
		t.Errorf("%d clones, and %d machines", pve.Tasks("qmclone"), len(pve.Machines()))
	}
}

// While an operator's clone takes our number, it may be ours; in the end it is not.
func TestAStrangersCloneUnderOurNumberIsWaitedForAndLeft(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", hasty)
	pve.AddStranger(1077, "theirs")
	description := pve.Machine(1077).Config["description"]
	pve.Set(1077, "description", "qmclone temporary file\n")
	pve.Set(1077, "lock", "clone")
	other := m
	other.Name, other.Hostname = "vm78", "other.example.com"
	pve.Faults.Hold("qmclone") // a clone that runs
	_, err := h.Create(t.Context(), other)
	fails(t, err, domain.Waiting, "moving")
	_, err = h.Create(t.Context(), m)
	fails(t, err, domain.Waiting, "moving")
	fails(t, h.Remove(t.Context(), "1077", m), domain.Waiting, "moving")
	pve.Set(1077, "description", description)
	pve.Set(1077, "lock", "")
	_, err = h.Create(t.Context(), m)
	fails(t, err, domain.Permanent, "name_taken")
	fails(t, h.Remove(t.Context(), "1077", m), domain.Permanent, "drift")
	if pve.Machine(1077) == nil {
		t.Error("it is gone")
	}
}

func TestAMachineThatIsNotOursIsNeverTouched(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	pve.AddStranger(1077, "theirs")
	before := fmt.Sprint(pve.Machine(1077), pve.Volumes())
	_, err := h.Create(t.Context(), m)
	fails(t, err, domain.Permanent, "name_taken")
	fails(t, h.Change(t.Context(), "1077", m), domain.Permanent, "drift")
	fails(t, h.Remove(t.Context(), "1077", m), domain.Permanent, "drift")
	fails(t, h.DropSnapshot(t.Context(), "1077", m, "one"), domain.Permanent, "drift")
	if after := fmt.Sprint(pve.Machine(1077), pve.Volumes()); after != before {
		t.Errorf("%s\nhas become\n%s", before, after)
	}
	pve.Hide(1077)
	_, err = h.Create(t.Context(), m)
	fails(t, err, domain.Permanent, "name_taken")
	if pve.Clones(1077) != 0 {
		t.Error("it was cloned over")
	}
}

// A copy has all settings of its original, the mark too, except the number.
func TestACopyThatAnOperatorMakesIsAStrangers(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	pve.Copy(1077, 1999)
	all, err := h.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, seen := range all {
		if seen.Ours != (seen.External == "1077") {
			t.Errorf("%+v", seen)
		}
	}
	if err := h.Remove(t.Context(), "1077", m); err != nil {
		t.Fatal(err)
	}
	fails(t, h.Remove(t.Context(), "1999", m), domain.Permanent, "drift")
	if pve.Machine(1999) == nil {
		t.Error("the copy is gone")
	}
}

func TestTwoPanelsShareACluster(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	ours := panel(t, pve, "ours", nil)
	sameRange := panel(t, pve, "theirs", nil)
	ownRange := panel(t, pve, "theirs", func(s *proxmox.Settings) { s.FirstID = 5000 })
	theirs := m
	theirs.ID, theirs.Hostname = compute.ID("theirs", m.Service), "their.example.com"
	made(t, ours, m)
	_, err := sameRange.Create(t.Context(), theirs)
	fails(t, err, domain.Permanent, "name_taken")
	if external := made(t, ownRange, theirs); external != "5077" {
		t.Errorf("it is called %s", external)
	}
	for h, own := range map[*proxmox.Hypervisor]string{ours: "1077", ownRange: "5077"} {
		all, err := h.List(t.Context())
		if err != nil || len(all) != 2 {
			t.Errorf("%+v, %v", all, err)
		}
		for _, seen := range all {
			if seen.Ours != (seen.External == own) {
				t.Errorf("%s: %+v", own, seen)
			}
		}
	}
}

// Owners choose host names, and with them the names that Proxmox shows.
func TestAHostNameTakesNoOthersName(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	m.Hostname = "vm78"
	made(t, h, m)
	other := vm77()
	other.Name, other.ID, other.Service = "vm78", compute.ID("ours", "another"), "another"
	other.Hostname = m.Name
	if external := made(t, h, other); external != "1078" {
		t.Errorf("it is called %s", external)
	}
	for _, one := range []compute.Machine{m, other} {
		if seen := found(t, h, one); seen.ID != one.ID || seen.Name != one.Name {
			t.Errorf("%+v", seen)
		}
	}
	pve.AddStranger(150, "vm79")
	other.Name, other.ID = "vm79", compute.ID("ours", "one more")
	_, err := h.Create(t.Context(), other)
	fails(t, err, domain.Permanent, "name_taken")
}

func TestAGuestHasItsGraceUnlessItIsSwitchedOff(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", hasty)
	made(t, h, m)
	pve.Faults.Hold("qmshutdown")
	m.Generation, m.On, m.Soft = 2, false, true
	for range 3 {
		fails(t, h.Change(t.Context(), "1077", m), domain.Waiting, "moving")
	}
	if n := pve.Tasks("qmshutdown"); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	changed(t, h, &m, func(m *compute.Machine) { m.Soft = false })
	if seen := found(t, h, m); seen.State != compute.Stopped {
		t.Errorf("%+v", seen)
	}
}

func TestAPasswordCountsWhenTheDiskIsMade(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	first := m.Password
	changed(t, h, &m, func(m *compute.Machine) { m.Password = "$6$salt$another" })
	if is := pve.Machine(1077).Config["cipassword"]; is != first {
		t.Errorf("it was changed to %s", is)
	}
	changed(t, h, &m, func(m *compute.Machine) { m.Disk++ })
	if is := pve.Machine(1077).Config["cipassword"]; is != "$6$salt$another" {
		t.Errorf("of the new disk it is %s", is)
	}
	other := vm77()
	other.Name, other.Password = "vm78", "$y$j9T$salt$hash"
	_, err := h.Create(t.Context(), other)
	fails(t, err, domain.Permanent, "bad_password")
	if pve.Machine(1078) != nil {
		t.Error("a machine was made without its password")
	}
}

// disks counts the volumes of a machine without the drive of cloud-init.
func disks(pve *proxmoxtest.Server, machine string) (n int) {
	for _, volume := range pve.Volumes() {
		if strings.Contains(volume, "vm-"+machine+"-disk") {
			n++
		}
	}
	return n
}

func TestANewDiskWithoutAnAnswerIsCopiedOnce(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	pve.Write(1077, "first life")
	pve.Faults.LoseAnswerOf(func(method, path string) bool { return method == "POST" && strings.HasSuffix(path, "/config") })
	m.Generation, m.Disk = 2, 2
	fails(t, h.Change(t.Context(), "1077", m), domain.Unknown, "no_answer")
	changed(t, h, &m, func(*compute.Machine) {})
	if is := pve.Read(1077); is != "as in debian-13" || disks(pve, "1077") != 1 {
		t.Errorf("%q, and %d disks", is, disks(pve, "1077"))
	}
	if n := pve.Tasks("qmconfig"); n != 2 { // the copy, and the end of the old disk
		t.Errorf("%d tasks", n)
	}
}

func TestADiskThatSnapshotsHaveStaysUntilTheLastOneGoes(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	pve.Write(1077, "first life")
	for _, name := range []string{"one", "two"} {
		if err := h.TakeSnapshot(t.Context(), "1077", m, name); err != nil {
			t.Fatal(err)
		}
	}
	changed(t, h, &m, func(m *compute.Machine) { m.Disk++ })
	if is := pve.Read(1077); is != "as in debian-13" || disks(pve, "1077") != 2 {
		t.Errorf("%q, and %d disks", is, disks(pve, "1077"))
	}
	changed(t, h, &m, func(m *compute.Machine) { m.Disk++; m.Snapshot = "one" })
	if is := pve.Read(1077); is != "first life" {
		t.Errorf("restored is %q", is)
	}
	for _, name := range []string{"one", "two"} {
		if err := h.DropSnapshot(t.Context(), "1077", m, name); err != nil {
			t.Fatal(err)
		}
	}
	if is := pve.Read(1077); is != "first life" || disks(pve, "1077") != 1 {
		t.Errorf("in the end %q, and %d disks", is, disks(pve, "1077"))
	}
	if err := h.Remove(t.Context(), "1077", m); err != nil || disks(pve, "1077") != 0 {
		t.Errorf("%v, and %d disks", err, disks(pve, "1077"))
	}
}

func TestACloneThatAFallenNodeLeftIsForAnOperator(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", hasty)
	pve.Faults.Pace(20)
	_, err := h.Create(t.Context(), m)
	fails(t, err, domain.Waiting, "moving")
	for pve.Machine(1077) == nil {
		pve.Pass(1)
	}
	pve.Fall("pve1")
	_, err = h.Create(t.Context(), m)
	fails(t, err, domain.Unknown, "task_cut")
	_, err = h.Create(t.Context(), m)
	fails(t, err, domain.Permanent, "locked")
	fails(t, h.Remove(t.Context(), "1077", m), domain.Permanent, "locked")
	pve.Delete(1077) // as the text says
	pve.Faults.Pace(1)
	made(t, h, m)
}

func TestMachinesOfTwoNodes(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	pve.AddNode("pve2", 8, 32<<10)
	h := panel(t, pve, "ours", nil)
	m.Host = "pve2"
	_, err := h.Create(t.Context(), m)
	fails(t, err, domain.Permanent, "no_template") // it is on local storage of another node
	pve.AddTemplate(9001, "debian-13", "pve2", 2)
	made(t, h, m)
	if seen := found(t, h, m); seen.Host != "pve2" {
		t.Errorf("%+v", seen)
	}
	hosts, err := h.Hosts(t.Context())
	if err != nil || len(hosts) != 2 || hosts[1].FreeMB != 32<<10-2048 || hosts[1].FreeGB != 493 || hosts[0].Cores != 16 {
		t.Errorf("%+v, %v", hosts, err)
	}
	pve.Away("pve2", true)
	if hosts, err := h.Hosts(t.Context()); err != nil || hosts[1].Down == "" || hosts[0].Down != "" {
		t.Errorf("%+v, %v", hosts, err)
	}
	m.Generation++
	fails(t, h.Change(t.Context(), "1077", m), domain.Transient, "node_away")
	if _, err := h.List(t.Context()); domain.ClassOf(err) != domain.Transient {
		t.Errorf("machines of a node that is away are not strangers': %v", err)
	}
	pve.Away("pve2", false)
	if err := h.Change(t.Context(), "1077", m); err != nil {
		t.Error(err)
	}
}

func TestASharedTemplateIsCopiedToAnotherNode(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	pve.AddNode("pve2", 8, 32<<10)
	pve.AddStorage("ceph", "", 900, true)
	pve.MoveVolumes(9000, "ceph")
	h := panel(t, pve, "ours", func(s *proxmox.Settings) { s.Storage, s.Linked = "ceph", true })
	m.Host = "pve2"
	made(t, h, m)
	if seen := found(t, h, m); seen.Host != "pve2" || seen.Partial {
		t.Errorf("%+v", seen)
	}
}

func TestAddressesThatTheNetworkGivesAreToldByTheAgent(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	m.Network = compute.Network{}
	made(t, h, m)
	if seen := found(t, h, m); !slices.Contains(seen.Addresses, netip.MustParseAddr("10.0.4.79")) || len(seen.Addresses) != 1 {
		t.Errorf("%v", seen.Addresses)
	}
	if have := pve.Machine(1077); have.Firewall["ipfilter"] != "0" || have.Card()["bridge"] != "vmbr0" {
		t.Errorf("%+v", have)
	}
	changed(t, h, &m, func(m *compute.Machine) { m.Network = like().Network })
	changed(t, h, &m, func(m *compute.Machine) { m.Network.Addresses = m.Network.Addresses[:1] })
	if have := pve.Machine(1077); fmt.Sprint(have.Allowed) != "[192.0.2.77]" {
		t.Errorf("%v", have.Allowed)
	}
	pve.Revoke("VM.GuestAgent.Audit")
	if seen := found(t, h, m); !slices.Contains(seen.Addresses, netip.MustParseAddr("192.0.2.77")) {
		t.Errorf("without the agent: %v", seen.Addresses)
	}
}

func TestNotesOfOperatorsStay(t *testing.T) {
	t.Parallel()
	pve, m := cluster(t), vm77()
	h := panel(t, pve, "ours", nil)
	made(t, h, m)
	const note = "Ask Ada before a restart.\n"
	pve.Set(1077, "description", note+pve.Machine(1077).Config["description"])
	changed(t, h, &m, func(m *compute.Machine) { m.Cores++ })
	if is := pve.Machine(1077).Config["description"]; !strings.Contains(is, note) || !strings.Contains(is, "hostpanel.generation=2\n") {
		t.Errorf("%s", is)
	}
}

// A thousand machines are compared in ten seconds; a node answers such a call in some
// milliseconds.
func TestAThousandMachinesAreOneCallEach(t *testing.T) {
	t.Parallel()
	pve := cluster(t)
	for n := range int64(1000) {
		pve.AddStranger(1000+n, fmt.Sprintf("vm%d", n))
	}
	before := pve.Calls()
	all, err := panel(t, pve, "ours", nil).List(t.Context())
	if calls := pve.Calls() - before; err != nil || len(all) != 1000 || calls > 1010 {
		t.Errorf("%d machines in %d calls, %v", len(all), calls, err)
	}
}
