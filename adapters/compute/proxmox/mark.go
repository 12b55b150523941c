package proxmox

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/compute"
)

// prefix begins the lines of a machine's description that are the panel's. Other lines are
// the operators' and stay.
const prefix = "hostpanel."

// A mark says whose a machine is and how far it was brought. It stands in the description,
// which the clone sets itself and which counts at once, also while the machine runs.
type mark struct {
	Installation string
	Service      string
	Machine      uuid.UUID
	Name         string
	Number       int64 // of the machine at Proxmox: a copy that an operator makes has another one
	Generation   int64
	Disk         int64
	Ready        bool // its creation has ended
}

func (h *Hypervisor) markOf(m compute.Machine, number int64) mark {
	return mark{
		Installation: h.settings.Installation, Service: m.Service, Machine: m.ID, Name: m.Name,
		Number: number, Generation: m.Generation, Disk: m.Disk,
	}
}

// write returns a description with the mark and the operators' lines.
func (k mark) write(others string) string {
	state := "creating"
	if k.Ready {
		state = "ready"
	}
	var b strings.Builder
	for _, line := range [...]struct {
		name  string
		value any
	}{
		{"installation", k.Installation},
		{"service", k.Service},
		{"machine", k.Machine},
		{"name", k.Name},
		{"number", k.Number},
		{"generation", k.Generation},
		{"disk", k.Disk},
		{"state", state},
	} {
		fmt.Fprintf(&b, "%s%s=%v\n", prefix, line.name, line.value)
	}
	return b.String() + others
}

// readMark reads a description: the mark, and the lines of operators.
func readMark(description string) (k mark, others string, marked bool) {
	values := map[string]string{}
	for line := range strings.Lines(description) {
		name, value, is := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, prefix)), "=")
		if !is || !strings.HasPrefix(line, prefix) {
			others += line
			continue
		}
		values[name] = value
	}
	id, err := uuid.Parse(values["machine"])
	k = mark{
		Installation: values["installation"], Service: values["service"], Machine: id, Name: values["name"],
		Number: whole(values["number"]), Generation: whole(values["generation"]), Disk: whole(values["disk"]),
		Ready: values["state"] == "ready",
	}
	return k, others, err == nil
}

// whole reads a number; 0: it is none.
func whole(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}
