package proxmox

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/domain/compute"
)

// Change implements [compute.Hypervisor].
func (h *Hypervisor) Change(ctx context.Context, external string, m compute.Machine) error {
	if err := h.check(m); err != nil {
		return err
	}
	return h.alone(external, m, func(id int64) error {
		if err := h.tasks.outcome(ctx, id); err != nil {
			return err
		}
		v, err := h.own(ctx, external, m)
		if err != nil {
			return err
		}
		return h.bring(ctx, v, m)
	})
}

// bring takes a machine from what it is to what is wanted. Each step looks at what is there,
// so that a repetition goes on where an earlier attempt ended. The configuration comes
// before the power: a machine that runs with an older boot number has not been started with it.
func (h *Hypervisor) bring(ctx context.Context, v *vm, m compute.Machine) error {
	if err := h.refuse(v, m); err != nil {
		return err
	}
	if err := h.idle(ctx, v, m.Soft); err != nil {
		return err
	}
	fresh := !v.mark.Ready || m.Disk > v.mark.Disk && m.Snapshot == ""
	if m.Disk > v.mark.Disk {
		if err := h.remake(ctx, v, m); err != nil {
			return err
		}
	}
	for _, step := range []func() error{
		func() error { return h.configure(ctx, v, m, fresh) },
		func() error { return h.grow(ctx, v, m.DiskGB) },
		func() error { return h.filter(ctx, v, m) },
		func() error { return h.power(ctx, v, m) },
		func() error { return h.finish(ctx, v) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// refuse tells what cannot be brought to what is wanted.
func (h *Hypervisor) refuse(v *vm, m compute.Machine) error {
	switch {
	case v.mark.Generation > m.Generation:
		return permanentf("overtaken", "machine %d has generation %d", v.id, v.mark.Generation)
	case v.disk() == "":
		return permanentf("no_template", "machine %d has no disk to start from", v.id)
	case v.diskGB() > m.DiskGB:
		return permanentf("disk_shrinks", "the disk of machine %d has %d GB", v.id, v.diskGB())
	}
	return nil
}

// idle waits while Proxmox does something with the machine. A shutdown is cut short by a
// request to switch off.
func (h *Hypervisor) idle(ctx context.Context, v *vm, soft bool) error {
	if v.status.Lock == "backup" || v.status.Lock == "migrate" {
		return compute.OnItsWay(15 * soon)
	}
	if v.status.Lock != "" {
		return h.unlessLeft(ctx, v)
	}
	running, err := h.tasks.running(ctx, v.node, url.Values{"vmid": {v.external()}})
	if err != nil {
		return err
	}
	for _, t := range running {
		if t.Type != "qmshutdown" || soft {
			return onItsWay()
		}
	}
	return nil
}

// grow makes the disk larger. The size is absolute, so that a repetition changes nothing.
func (h *Hypervisor) grow(ctx context.Context, v *vm, gb int64) error {
	if v.diskGB() >= gb {
		return nil
	}
	form := url.Values{"disk": {v.disk()}, "size": {strconv.FormatInt(gb, 10) + "G"}}
	return h.tasks.do(ctx, v.id, http.MethodPut, v.path()+"/resize", form)
}

// finish notes that the creation has ended.
func (h *Hypervisor) finish(ctx context.Context, v *vm) error {
	if v.mark.Ready {
		return nil
	}
	v.mark.Ready = true
	return h.note(ctx, v)
}

// note writes the mark.
func (h *Hypervisor) note(ctx context.Context, v *vm) error {
	return h.api.put(ctx, v.path()+"/config", url.Values{"description": {v.mark.write(v.others)}})
}

// power switches on and off. A machine that runs with a lower number is started anew.
func (h *Hypervisor) power(ctx context.Context, v *vm, m compute.Machine) error {
	if v.running() && (!m.On || v.boot() < m.Boot) {
		if err := h.halt(ctx, v, m.Soft); err != nil {
			return err
		}
	}
	if !m.On || v.running() {
		return nil
	}
	err := h.tasks.do(ctx, v.id, http.MethodPost, v.path()+"/status/start", nil)
	if err != nil && strings.Contains(err.Error(), "already running") {
		return nil
	}
	return err
}

// halt switches off. A guest that is asked to shut down has the grace for it.
func (h *Hypervisor) halt(ctx context.Context, v *vm, soft bool) error {
	path, form := v.path()+"/status/stop", url.Values{"overrule-shutdown": {"1"}}
	if soft {
		seconds := strconv.FormatInt(int64(h.settings.Grace.Seconds()), 10)
		path, form = v.path()+"/status/shutdown", url.Values{"timeout": {seconds}, "forceStop": {"1"}}
	}
	if err := h.tasks.do(ctx, v.id, http.MethodPost, path, form); err != nil {
		return err
	}
	if err := h.readStatus(ctx, v); err != nil {
		return err
	}
	if v.running() { // such as one that the cluster's manager of availability is to stop
		return onItsWay()
	}
	return nil
}
