package proxmox

import (
	"context"
	"fmt"
	"net/url"

	"hostpanel/domain/compute"
	"hostpanel/eventstore/clock"
)

// Usage implements [compute.Hypervisor]. Proxmox has no counter of processor time. Its
// counters of traffic begin at zero with each process of QEMU.
func (h *Hypervisor) Usage(ctx context.Context, external string, m compute.Machine) (compute.Usage, error) {
	v, err := h.own(ctx, external, m)
	if err != nil {
		return compute.Usage{}, err
	}
	used, err := h.volumes(ctx, v)
	if err != nil {
		return compute.Usage{}, err
	}
	u := compute.Usage{At: clock.Now(), DiskMB: used >> 20, Epoch: "off"}
	if v.running() {
		u.MemoryMB = whole(string(v.status.Memory)) >> 20
		u.Received, u.Sent = whole(string(v.status.In)), whole(string(v.status.Out))
		u.Epoch = fmt.Sprintf("%s/%s/%d", v.node, v.status.Process, v.boot())
	}
	return u, nil
}

// volumes is what the volumes of a machine take in the storage, in bytes.
func (h *Hypervisor) volumes(ctx context.Context, v *vm) (sum int64, err error) {
	var rows []struct {
		Size text `json:"size"`
		Used text `json:"used"`
	}
	path := nodePath(v.node) + "/storage/" + url.PathEscape(h.settings.Storage) + "/content"
	if err := h.api.get(ctx, path, url.Values{"content": {"images"}, "vmid": {v.external()}}, &rows); err != nil {
		return 0, err
	}
	for _, row := range rows {
		if used := whole(string(row.Used)); used > 0 {
			sum += used
		} else {
			sum += whole(string(row.Size))
		}
	}
	return sum, nil
}
