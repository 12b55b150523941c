package sandbox

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

var label = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// check is what the hypervisor refuses by itself.
func check(m compute.Machine) error {
	switch {
	case !label.MatchString(m.Name):
		return errors.New("the name is not that of a host")
	case m.Hostname != "" && !isHostname(m.Hostname):
		return errors.New("the host name is none")
	case m.Template == "":
		return errors.New("a machine needs an operating system")
	case m.Cores < 1 || m.Cores > 256:
		return errors.New("a machine has 1 to 256 cores")
	case m.MemoryMB < 1 || m.MemoryMB > 4<<20:
		return errors.New("a machine has up to 4 TiB of memory")
	case m.DiskGB < 1 || m.DiskGB > 1<<20:
		return errors.New("a machine has up to 1 PiB of disk")
	}
	return nil
}

var hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

func isHostname(name string) bool {
	isWrong := func(label string) bool { return !hostLabel.MatchString(label) }
	return len(name) <= 253 && !slices.ContainsFunc(strings.Split(name, "."), isWrong)
}

// templates are those that a host lists that has every one.
var templates = []string{"alma-9", "debian-12", "debian-13", "ubuntu-24", "ubuntu-24.04"}

// first is the number of the first machine.
const first = 100

// address gives the n-th machine the n-th address of 192.0.2.0/24 and, when
// these are used up, of 2001:db8::/32: they are not used on the internet.
func address(id int64) string {
	n := uint64(id - first + 1)
	if n < 255 {
		return netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}).String()
	}
	six := netip.MustParseAddr("2001:db8::").As16()
	binary.BigEndian.PutUint64(six[8:], n)
	return netip.AddrFrom16(six).String()
}

var (
	errAbsent    = domain.Fail(domain.Permanent, "absent", errors.New("there is no such machine"))
	errDrift     = domain.Fail(domain.Permanent, "drift", errors.New("the machine is another one"))
	errTaken     = domain.Fail(domain.Permanent, "name_taken", errors.New("there is a machine with this name already"))
	errFull      = domain.Fail(domain.Permanent, "node_full", errors.New("no host has room for the machine"))
	errTemplate  = domain.Fail(domain.Permanent, "no_template", errors.New("no host has the template"))
	errSnapshot  = domain.Fail(domain.Permanent, "no_snapshot", errors.New("there is no such snapshot"))
	errShrinks   = domain.Fail(domain.Permanent, "disk_shrinks", errors.New("a disk never shrinks"))
	errOvertaken = domain.Fail(domain.Permanent, "overtaken", errors.New("more has been asked for since"))
	errAmbiguous = domain.Fail(domain.Permanent, "ambiguous", errors.New("two machines have the id"))
	errOff       = domain.Fail(domain.Permanent, "stopped", errors.New("a machine that is off shows nothing"))
)
