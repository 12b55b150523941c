package proxmox

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"hostpanel/domain/compute"
)

// Snapshots implements [compute.Hypervisor].
func (h *Hypervisor) Snapshots(ctx context.Context, external string, m compute.Machine) ([]compute.Snapshot, error) {
	v, err := h.own(ctx, external, m)
	if err != nil {
		return nil, err
	}
	all, err := h.snapshots(ctx, v)
	list := make([]compute.Snapshot, 0, len(all))
	for name, at := range all {
		list = append(list, compute.Snapshot{Name: name, At: at})
	}
	slices.SortFunc(list, func(a, b compute.Snapshot) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Name, b.Name)) })
	return list, err
}

// snapshots are those that are whole, with their times.
func (h *Hypervisor) snapshots(ctx context.Context, v *vm) (map[string]time.Time, error) {
	var rows []struct {
		Name  string `json:"name"`
		Time  text   `json:"snaptime"`
		State string `json:"snapstate"`
	}
	if err := h.api.get(ctx, v.path()+"/snapshot", nil, &rows); err != nil {
		return nil, err
	}
	all := map[string]time.Time{}
	for _, row := range rows {
		if row.Name != "current" && row.State == "" {
			seconds, _ := strconv.ParseInt(string(row.Time), 10, 64)
			all[row.Name] = time.Unix(seconds, 0).UTC()
		}
	}
	return all, nil
}

// TakeSnapshot implements [compute.Hypervisor]. It holds the disk, and not the memory.
func (h *Hypervisor) TakeSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return h.withSnapshot(ctx, external, m, name, func(v *vm, has bool) error {
		if has {
			return nil
		}
		return h.tasks.do(ctx, v.id, http.MethodPost, v.path()+"/snapshot", url.Values{"snapname": {name}})
	})
}

// DropSnapshot implements [compute.Hypervisor]. With the last one go the disks that only
// snapshots had.
func (h *Hypervisor) DropSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return h.withSnapshot(ctx, external, m, name, func(v *vm, has bool) error {
		if has {
			if err := h.tasks.do(ctx, v.id, http.MethodDelete, v.path()+"/snapshot/"+url.PathEscape(name), nil); err != nil {
				return err
			}
			if err := h.readConfig(ctx, v); err != nil {
				return err
			}
		}
		return h.tidy(ctx, v)
	})
}

// withSnapshot makes a call once the machine is idle, and tells whether it has a snapshot.
func (h *Hypervisor) withSnapshot(
	ctx context.Context, external string, m compute.Machine, name string, call func(v *vm, has bool) error,
) error {
	return h.alone(external, m, func(id int64) error {
		v, err := h.own(ctx, external, m)
		if err != nil {
			return err
		}
		if err := h.tasks.outcome(ctx, id); err != nil {
			return err
		}
		if err := h.idle(ctx, v, true); err != nil {
			return err
		}
		all, err := h.snapshots(ctx, v)
		if err != nil {
			return err
		}
		_, has := all[name]
		return call(v, has)
	})
}
