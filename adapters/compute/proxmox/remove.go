package proxmox

import (
	"context"
	"net/http"
	"net/url"

	"hostpanel/domain/compute"
)

// Remove implements [compute.Hypervisor].
func (h *Hypervisor) Remove(ctx context.Context, external string, m compute.Machine) error {
	id, err := h.number(external, m)
	if err != nil {
		return err
	}
	leave, err := h.enter(id)
	if err != nil {
		return err
	}
	defer leave()
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
	if err := h.idle(ctx, v, false); err != nil {
		return err
	}
	if v.running() {
		if err := h.halt(ctx, v, false); err != nil {
			return err
		}
	}
	err = h.tasks.do(ctx, v.id, http.MethodDelete, v.path(), url.Values{"purge": {"1"}, "destroy-unreferenced-disks": {"1"}})
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
