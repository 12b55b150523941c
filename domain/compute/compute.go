// Package compute is the port to hypervisors: virtual machines as they are to be, as they
// are seen, and the calls between the two (docs/machines.md).
//
// What does not work is answered with a *domain.Failure, whose class decides about the next
// attempt (docs/sagas.md, "Errors"). An error without a class counts as unknown.
package compute

import (
	"errors"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// A Machine is a virtual machine as a hypervisor is to have it.
type Machine struct {
	ID      uuid.UUID // see [ID]; the guest's firmware reports it
	Name    string    // at the hypervisor: "vm77"
	Service string    // the id of the order that has bought it

	// Generation numbers the requests. A hypervisor that was brought to a later one refuses
	// with a permanent failure, "overtaken".
	Generation int64

	Host     string // that runs it, of those that the hypervisor has; "": its only one
	Cores    int64
	MemoryMB int64
	DiskGB   int64 // never shrinks

	On     bool
	Soft   bool  // it is asked to shut down before it is switched off
	Boot   int64 // number of its start: one that runs with a lower number is started anew
	Rescue bool  // it starts the hypervisor's rescue system

	// Disk numbers the contents of the disk. With a higher number the machine is off while
	// its disk is made anew: a copy of the template, or of its own snapshot Snapshot.
	Disk     int64
	Template string
	Snapshot string

	Hostname string
	Keys     []string // of SSH, in the form of authorized_keys: who may sign in
	Password string   // a hash of root's as crypt(3) has it; "": none. It counts when the disk is made
	Network  Network
}

// IsSo tells whether a machine that was seen is as it is wanted to be.
func (m Machine) IsSo(seen Seen) bool {
	state := Stopped
	if m.On {
		state = Running
	}
	return !seen.Partial && seen.State == state && seen.Boot >= m.Boot && seen.Disk >= m.Disk
}

// Differences are the fields in which a machine that was seen is another than the wanted
// one. A machine that is off although it may run is none: its owner's system may have shut
// itself down.
func (m Machine) Differences(seen Seen) (fields []string) {
	for _, each := range []struct {
		field  string
		differ bool
	}{
		{"cores", seen.Cores != m.Cores},
		{"memory_mb", seen.MemoryMB != m.MemoryMB},
		{"disk_gb", seen.DiskGB != m.DiskGB},
		{"is_on", seen.State == Running && !m.On},
		{"boots", seen.State == Running && m.On && seen.Boot != m.Boot},
		{"disks", seen.Disk != m.Disk},
	} {
		if each.differ {
			fields = append(fields, each.field)
		}
	}
	return fields
}

// IsPassed tells whether a machine that was seen is further than the wanted one, so that no
// change brings it back.
func (m Machine) IsPassed(seen Seen) bool {
	return seen.DiskGB > m.DiskGB || seen.Disk > m.Disk || seen.State == Running && m.On && seen.Boot > m.Boot
}

// A Network is how a machine is connected. Other sources than its addresses are filtered.
type Network struct {
	Bridge      string // of the host; "": the hypervisor's own network, which gives addresses
	VLAN        int64  // 0: none
	Addresses   []netip.Prefix
	Gateways    []netip.Addr
	NameServers []netip.Addr
	RateMbit    int64 // in each direction; 0: not limited
}

// A State is whether a machine runs.
type State string

const (
	Running State = "running"
	Stopped State = "stopped"
	Moving  State = "changing" // on its way to one of the others
)

// A Seen is a machine as its hypervisor shows it.
type Seen struct {
	External string    // what the hypervisor calls it
	ID       uuid.UUID // zero: not told
	Name     string
	Ours     bool   // it carries the mark of this panel, with the fields below
	Service  string // "": a stranger's
	Host     string

	Generation int64
	Cores      int64 // as with its next start
	MemoryMB   int64
	DiskGB     int64
	State      State
	Boot       int64 // with which it runs; of one that is off: with which it would start
	Disk       int64
	Rescue     bool

	Addresses []netip.Addr // that it has, as far as the hypervisor can tell: else those that it was given
	Partial   bool         // a creation that has not ended: only a part of it is there
}

// A Host is one host of a hypervisor.
type Host struct {
	Name      string
	Cores     int64
	MemoryMB  int64
	FreeMB    int64
	DiskGB    int64 // of the storage for machines
	FreeGB    int64
	Templates []string // that a disk can be a copy of
	Down      string   // why it takes no machines; "": it does
}

// A Snapshot is the disk of a machine at a moment.
type Snapshot struct {
	Name string
	At   time.Time
}

// A Usage is what a machine uses.
type Usage struct {
	At       time.Time
	CPU      time.Duration // counter: time of all cores
	MemoryMB int64         // 0: not told
	DiskMB   int64         // that its disk takes at the host
	Received int64         // counter: bytes
	Sent     int64         // counter: bytes
	Epoch    string        // names this run of the counters: with another one they have begun at zero
}

// OnItsWay is the failure of a call that is to be repeated: the machine is on its way to
// what is wanted.
func OnItsWay(after time.Duration) error {
	return &domain.Failure{Class: domain.Waiting, Code: "moving", RetryAfter: after, Err: errors.New("the machine is on its way")}
}

// space is the namespace of the ids of machines.
var space = uuid.MustParse("6d4c1c0e-8f2a-5b7e-9c55-3a0b7e2f1d46")

// ID is the id of the machine of a service: always the same for an installation of the
// panel, so that a repetition finds what an earlier attempt has made.
func ID(installation, service string) uuid.UUID {
	return uuid.NewSHA1(space, []byte(installation+"/"+service)) //nolint:forbidigo // the same for the same service
}

// MAC is the hardware address of a machine's network card, of those that are administered
// locally: "02:1f:…". It follows from the machine's id.
func MAC(id uuid.UUID) string {
	const digits = "0123456789abcdef"
	text := []byte("02")
	for _, b := range id[11:] {
		text = append(text, ':', digits[b>>4], digits[b&15])
	}
	return string(text)
}
