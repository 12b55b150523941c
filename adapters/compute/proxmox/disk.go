package proxmox

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/domain/compute"
)

// remake makes the disk anew while the machine is off. The number of the new contents is
// noted with the configuration that follows. A crash before repeats what is here, which is
// harmless: the machine has not been started since.
func (h *Hypervisor) remake(ctx context.Context, v *vm, m compute.Machine) error {
	source, err := h.contents(ctx, v, m)
	if err != nil {
		return err
	}
	if v.mark.Generation < m.Generation {
		v.mark.Generation = m.Generation
		if err := h.note(ctx, v); err != nil {
			return err
		}
	}
	if v.running() {
		if err := h.halt(ctx, v, m.Soft); err != nil {
			return err
		}
	}
	if err := source(); err != nil {
		return err
	}
	if err := h.readConfig(ctx, v); err != nil {
		return err
	}
	return h.tidy(ctx, v)
}

// contents checks where the new contents come from, before the machine is stopped.
func (h *Hypervisor) contents(ctx context.Context, v *vm, m compute.Machine) (func() error, error) {
	if m.Snapshot == "" {
		return h.fromTemplate(ctx, v, m)
	}
	all, err := h.snapshots(ctx, v)
	if err != nil {
		return nil, err
	}
	if _, has := all[m.Snapshot]; !has {
		return nil, permanentf("no_snapshot", "machine %d has no snapshot %s", v.id, m.Snapshot)
	}
	return func() error {
		return h.tasks.do(ctx, v.id, http.MethodPost, v.path()+"/snapshot/"+url.PathEscape(m.Snapshot)+"/rollback", nil)
	}, nil
}

// fromTemplate imports the template's disk in the place of the old one, which becomes an
// unused volume. Both happen in one write of the configuration, at the end of the copy. The
// drive's serial number tells that it was done.
func (h *Hypervisor) fromTemplate(ctx context.Context, v *vm, m compute.Machine) (func() error, error) {
	all, err := h.resources(ctx, "vm")
	if err != nil {
		return nil, err
	}
	from, err := h.settings.template(m.Template, v.node, all)
	if err != nil {
		return nil, err
	}
	if from.Node != v.node {
		return nil, permanentf("no_template", "the template %s is on another node than machine %d", m.Template, v.id)
	}
	template := &vm{id: from.id(), node: from.Node}
	if err := h.readConfig(ctx, template); err != nil {
		return nil, err
	}
	volume := readProperties(template.now[template.disk()])[""]
	if volume == "" {
		return nil, permanent("no_template", "the template "+m.Template+" has no disk")
	}
	return func() error { return h.importDisk(ctx, v, volume, m.Disk) }, nil
}

func (h *Hypervisor) importDisk(ctx context.Context, v *vm, volume string, number int64) error {
	serial := "disk" + strconv.FormatInt(number, 10)
	drive := readProperties(v.next[v.disk()])
	if drive["serial"] == serial {
		return nil
	}
	for _, own := range []string{"size", "format"} {
		delete(drive, own)
	}
	drive[""], drive["import-from"], drive["serial"] = h.settings.Storage+":0", volume, serial
	return h.tasks.do(ctx, v.id, http.MethodPost, v.path()+"/config", url.Values{v.disk(): {drive.write()}})
}

// tidy deletes the volumes that are not used any more. Those that a snapshot has stay until
// the last snapshot goes.
func (h *Hypervisor) tidy(ctx context.Context, v *vm) error {
	var unused []string
	for key := range v.now {
		if strings.HasPrefix(key, "unused") {
			unused = append(unused, key)
		}
	}
	if len(unused) == 0 {
		return nil
	}
	all, err := h.snapshots(ctx, v)
	if err != nil || len(all) > 0 {
		return err
	}
	return h.tasks.do(ctx, v.id, http.MethodPost, v.path()+"/config", url.Values{"delete": {strings.Join(unused, ",")}})
}
