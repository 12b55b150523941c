package proxmox

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"hostpanel/domain/compute"
)

// Create implements [compute.Hypervisor].
func (h *Hypervisor) Create(ctx context.Context, m compute.Machine) (external string, err error) {
	if err := h.check(m); err != nil {
		return "", err
	}
	err = h.alone("", m, func(id int64) error {
		if err := h.tasks.last(ctx, id); err != nil {
			return err
		}
		v, err := h.made(ctx, id, m)
		if err != nil {
			return err
		}
		external = v.external()
		return h.bring(ctx, v, m)
	})
	return external, err
}

// made is the machine with a number; one that is not there is cloned.
func (h *Hypervisor) made(ctx context.Context, id int64, m compute.Machine) (*vm, error) {
	v, all, err := h.find(ctx, "", m)
	switch {
	case codeOf(err) == "moving" && v != nil:
		return nil, h.unlessLeft(ctx, v)
	case err != nil:
		return nil, err
	case v == nil:
		return h.clone(ctx, id, all, m)
	case !v.ours || v.mark.Machine != m.ID:
		return nil, permanentf("name_taken", "machine %d (%s) is not of this panel, or of another order", v.id, v.status.Name)
	}
	return v, nil
}

// clone copies the template. The copy has the mark from the first moment on that it has a
// configuration. A number that is taken meanwhile is looked up by the next attempt.
func (h *Hypervisor) clone(ctx context.Context, id int64, all []entry, m compute.Machine) (*vm, error) {
	from, err := h.settings.template(m.Template, m.Host, all)
	if err != nil {
		return nil, err
	}
	if err := h.canClone(ctx, from, id, m); err != nil {
		return nil, err
	}
	form := url.Values{
		"newid": {strconv.FormatInt(id, 10)}, "name": {hostname(m)},
		"description": {h.markOf(m, id).write("")}, "full": {"0"},
	}
	if !h.settings.Linked {
		form.Set("full", "1")
		form.Set("storage", h.settings.Storage)
	}
	node := cmp.Or(m.Host, from.Node)
	if node != from.Node {
		form.Set("target", node)
	}
	if err := h.tasks.do(ctx, id, http.MethodPost, machinePath(from.Node, from.id())+"/clone", form); err != nil {
		return nil, err
	}
	return h.read(ctx, node, id)
}

// canClone tells why no clone may begin: one is under way, the number is taken by a machine
// that the token may not see, or there is no room.
func (h *Hypervisor) canClone(ctx context.Context, from entry, id int64, m compute.Machine) error {
	if cloning, err := h.tasks.isCloning(ctx, from.Node, id); err != nil {
		return err
	} else if cloning {
		return onItsWay()
	}
	err := h.api.get(ctx, "/cluster/nextid", url.Values{"vmid": {strconv.FormatInt(id, 10)}}, nil)
	if codeOf(err) == "exists" {
		return h.hidden(ctx, id)
	} else if err != nil {
		return err
	}
	return h.room(ctx, cmp.Or(m.Host, from.Node), m.DiskGB)
}

// hidden tells a machine that has appeared from one that the token may not see.
func (h *Hypervisor) hidden(ctx context.Context, id int64) error {
	all, err := h.resources(ctx, "vm")
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(e entry) bool { return e.id() == id }) {
		return onItsWay()
	}
	return permanentf("name_taken", "machine %d is there, and the token may not see it", id)
}

func (h *Hypervisor) room(ctx context.Context, node string, gb int64) error {
	var storage struct {
		Available text `json:"avail"`
	}
	path := nodePath(node) + "/storage/" + url.PathEscape(h.settings.Storage) + "/status"
	if err := h.api.get(ctx, path, nil, &storage); err != nil {
		return err
	}
	if free := whole(string(storage.Available)) >> 30; free < gb {
		return permanentf("node_full", "%d GB are free in the storage %s of %s", free, h.settings.Storage, node)
	}
	return nil
}

// leftLocks are the locks of tasks that make or delete a machine. A node that fell has left
// them for ever, and only an operator can take them away.
var leftLocks = map[string]string{"clone": "qmclone", "destroyed": "qmdestroy"}

// unlessLeft waits for the task that has locked a machine, unless there is none.
func (h *Hypervisor) unlessLeft(ctx context.Context, v *vm) error {
	kind, lock := leftLocks[v.status.Lock], v.status.Lock
	if kind == "" {
		return onItsWay()
	}
	running, err := h.tasks.running(ctx, v.node, url.Values{"typefilter": {kind}})
	if err != nil || len(running) > 0 {
		return cmp.Or(err, onItsWay())
	}
	if err := h.readStatus(ctx, v); err != nil || v.status.Lock != lock {
		return onItsWay() // it ended meanwhile
	}
	return permanentf("locked", "machine %d was left with the lock %q: remove it with qm unlock and qm destroy", v.id, lock)
}

// hostname is the name at Proxmox: cloud-init gives it to the guest.
func hostname(m compute.Machine) string { return cmp.Or(m.Hostname, m.Name) }
