package sandbox

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"regexp"

	"hostpanel/domain/hosting"
)

var hostname = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)

// check is what the hypervisor refuses by itself.
func check(vm hosting.VM) error {
	switch {
	case !hostname.MatchString(vm.Name):
		return errors.New("the name is not that of a host")
	case vm.OS == "":
		return errors.New("a machine needs an operating system")
	case vm.Cores < 1 || vm.Cores > 256:
		return errors.New("a machine has 1 to 256 cores")
	case vm.MemoryMB < 1 || vm.MemoryMB > 4<<20:
		return errors.New("a machine has up to 4 TiB of memory")
	case vm.DiskGB < 1 || vm.DiskGB > 1<<20:
		return errors.New("a machine has up to 1 PiB of disk")
	case vm.TrafficTB < 0:
		return errors.New("traffic is not negative")
	}
	return nil
}

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
