package proxmox

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// properties are the parts of a value such as "virtio=02:…,bridge=vmbr0,tag=7". The first
// part may have no name.
type properties map[string]string

func readProperties(value string) properties {
	p := properties{}
	for i, part := range strings.Split(value, ",") {
		name, is, named := strings.Cut(part, "=")
		switch {
		case named:
			p[strings.TrimSpace(name)] = is
		case i == 0 && part != "":
			p[""] = part
		}
	}
	return p
}

// write returns the parts in an order that is always the same, the unnamed one first.
func (p properties) write() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if name == "" {
			parts = append(parts, p[name])
		} else {
			parts = append(parts, name+"="+p[name])
		}
	}
	return strings.Join(parts, ",")
}

// sameProperties compares without regard to order, and to the size that Proxmox adds to a drive.
func sameProperties(have, want string) bool {
	a, b := readProperties(have), readProperties(want)
	delete(a, "size")
	return maps.Equal(a, b)
}

// gigabytes reads the whole gigabytes of a size such as "32G" or "2252M".
func gigabytes(size string) int64 {
	if size == "" {
		return 0
	}
	unit := map[byte]float64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}[size[len(size)-1]]
	if unit == 0 {
		unit = 1
	} else {
		size = size[:len(size)-1]
	}
	n, err := strconv.ParseFloat(size, 64)
	if err != nil {
		return 0
	}
	return int64(n*unit) >> 30
}
