package proxmox

import (
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain/compute"
)

// Remove implements [compute.Hypervisor].
func (h *Hypervisor) Remove(ctx context.Context, external string, m compute.Machine) error {
	return h.alone(external, m, func(id int64) error {
		_ = h.tasks.outcome(ctx, id) // what has failed is removed, too
		v, err := h.own(ctx, external, m)
		switch {
		case codeOf(err) == "absent":
			return h.unlessCloning(ctx, m)
		case codeOf(err) == "moving" && v != nil:
			return h.unlessLeft(ctx, v)
		case err != nil:
			return err
		}
		return h.destroy(ctx, v)
	})
}

// destroy switches a machine off and deletes it with all that has its number.
func (h *Hypervisor) destroy(ctx context.Context, v *vm) error {
	if err := h.idle(ctx, v, false); err != nil {
		return err
	}
	if v.running() {
		if err := h.halt(ctx, v, false); err != nil {
			return err
		}
	}
	form := url.Values{"purge": {"1"}, "destroy-unreferenced-disks": {"1"}}
	err := h.tasks.do(ctx, v.id, http.MethodDelete, v.path(), form)
	if codeOf(err) == "absent" {
		return nil
	}
	return err
}

// unlessCloning tells that a machine is gone, unless a clone to its number is under way.
func (h *Hypervisor) unlessCloning(ctx context.Context, m compute.Machine) error {
	_, is, err := h.Find(ctx, m)
	if is && err == nil {
		return onItsWay()
	}
	return err
}
