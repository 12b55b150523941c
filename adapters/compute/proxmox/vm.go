package proxmox

import (
	"context"
	"encoding/base64"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/compute"
)

// An entry is a row of the cluster's resources: a machine, a node or a storage.
type entry struct {
	Type     string `json:"type"`
	Node     string `json:"node"`
	Name     string `json:"name"`
	Status   string `json:"status"`
	HA       string `json:"hastate"`
	Storage  string `json:"storage"`
	Number   text   `json:"vmid"`
	Template text   `json:"template"`
	Shared   text   `json:"shared"`
	Cores    text   `json:"maxcpu"`
	Memory   text   `json:"maxmem"`
	DiskMax  text   `json:"maxdisk"`
	DiskUsed text   `json:"disk"`
}

func (e entry) id() int64        { return whole(string(e.Number)) }
func (e entry) isTemplate() bool { return e.Template == "1" && e.Type == "qemu" }

func (h *Hypervisor) resources(ctx context.Context, kind string) (all []entry, err error) {
	query := url.Values{}
	if kind != "" {
		query.Set("type", kind)
	}
	return all, h.api.get(ctx, "/cluster/resources", query, &all)
}

// A vm is a machine as Proxmox has it. Its settings have two values: the one it runs with,
// and the pending one that counts with the next start.
type vm struct {
	id     int64
	node   string
	now    map[string]string
	next   map[string]string
	status status

	mark   mark
	others string // the operators' lines of the description
	marked bool   // by a panel: the number in the mark is its own, so it is no copy
	ours   bool
}

type status struct {
	Name    string `json:"name"`
	Status  string `json:"status"`
	Lock    string `json:"lock"`
	Process text   `json:"pid"`
	Agent   text   `json:"agent"`
	Memory  text   `json:"mem"`
	In      text   `json:"netin"`
	Out     text   `json:"netout"`
}

// read reads one machine of a node. One that Proxmox is making or deleting right now has no
// mark: the failure is a wait.
func (h *Hypervisor) read(ctx context.Context, node string, id int64) (*vm, error) {
	v := &vm{id: id, node: node}
	if err := h.readStatus(ctx, v); err != nil {
		return nil, err
	}
	if err := h.readConfig(ctx, v); err != nil {
		return nil, err
	}
	if v.isUnmarked() {
		return v, onItsWay()
	}
	return v, nil
}

// readStatus replaces all of the status: what is not told, such as a lock, is not so.
func (h *Hypervisor) readStatus(ctx context.Context, v *vm) error {
	v.status = status{}
	return h.api.get(ctx, v.path()+"/status/current", nil, &v.status)
}

// isUnmarked tells whether Proxmox is making or deleting it right now, so that it has no
// mark even if it is ours.
func (v *vm) isUnmarked() bool {
	return !v.ours && slices.Contains([]string{"clone", "create", "destroyed"}, v.status.Lock)
}

func (h *Hypervisor) readConfig(ctx context.Context, v *vm) error {
	var rows []struct {
		Key     string `json:"key"`
		Value   text   `json:"value"`
		Pending *text  `json:"pending"`
		Delete  text   `json:"delete"`
	}
	if err := h.api.get(ctx, machinePath(v.node, v.id)+"/pending", nil, &rows); err != nil {
		return err
	}
	v.now, v.next = map[string]string{}, map[string]string{}
	for _, row := range rows {
		if row.Value != "" {
			v.now[row.Key], v.next[row.Key] = string(row.Value), string(row.Value)
		}
		if row.Pending != nil {
			v.next[row.Key] = string(*row.Pending)
		}
		if row.Delete != "" && row.Delete != "0" {
			delete(v.next, row.Key)
		}
	}
	v.mark, v.others, v.marked = readMark(v.now["description"])
	v.marked = v.marked && v.mark.Number == v.id
	v.ours = v.marked && v.mark.Installation == h.settings.Installation
	return nil
}

func (v *vm) path() string     { return machinePath(v.node, v.id) }
func (v *vm) external() string { return strconv.FormatInt(v.id, 10) }
func (v *vm) running() bool    { return v.status.Status == "running" }

// starting are the settings that count: of one that runs those it was started with.
func (v *vm) starting() map[string]string {
	if v.running() {
		return v.now
	}
	return v.next
}

// boot is the number of its start. It stands in the firmware's serial number, which a
// machine that runs keeps until it is started anew.
func (v *vm) boot() int64 {
	serial, _ := base64.StdEncoding.DecodeString(readProperties(v.starting()["smbios1"])["serial"])
	return whole(string(serial))
}

// disk is the key of the disk that it starts from.
func (v *vm) disk() string { return diskOf(v.next) }

func diskOf(config map[string]string) string {
	order := strings.Split(readProperties(config["boot"])["order"], ";")
	for _, key := range append(order, "scsi0", "virtio0", "sata0", "ide0") {
		if value := config[key]; value != "" && isDrive(key) && readProperties(value)["media"] != "cdrom" {
			return key
		}
	}
	return ""
}

func isDrive(key string) bool {
	bus := strings.TrimRight(key, "0123456789")
	return bus != key && slices.Contains([]string{"scsi", "virtio", "sata", "ide"}, bus)
}

func (v *vm) diskGB() int64 { return gigabytes(readProperties(v.next[v.disk()])["size"]) }

func (v *vm) cores() int64 {
	return max(1, whole(v.next["cores"])) * max(1, whole(v.next["sockets"]))
}

func (v *vm) memory() int64 {
	p := readProperties(v.next["memory"])
	return max(whole(p[""]), whole(p["current"]))
}

func (v *vm) uuid() uuid.UUID {
	id, _ := uuid.Parse(readProperties(v.now["smbios1"])["uuid"])
	return id
}

func (v *vm) rescued() bool {
	return strings.HasPrefix(readProperties(v.starting()["boot"])["order"], rescueDrive)
}

func (v *vm) state() compute.State {
	switch {
	case slices.Contains([]string{"clone", "create", "rollback", "destroyed", "migrate", "suspending"}, v.status.Lock):
		return compute.Moving
	case v.running():
		return compute.Running
	}
	return compute.Stopped
}

// seen is the machine as the port has it. A stranger's has no marks.
func (v *vm) seen() compute.Seen {
	s := compute.Seen{External: v.external(), ID: v.uuid(), Name: v.status.Name, Host: v.node, State: v.state()}
	s.Cores, s.MemoryMB, s.DiskGB, s.Addresses = v.cores(), v.memory(), v.diskGB(), v.given()
	if v.marked {
		s.Name = v.mark.Name
	}
	if !v.ours {
		return s
	}
	s.Ours, s.ID, s.Service = true, v.mark.Machine, v.mark.Service
	s.Generation, s.Disk, s.Boot, s.Rescue = v.mark.Generation, v.mark.Disk, v.boot(), v.rescued()
	s.Partial = !v.mark.Ready
	return s
}

// part is a machine that is being made or deleted, and that tells nothing of itself.
func (v *vm) part(m compute.Machine) compute.Seen {
	return compute.Seen{
		External: v.external(), ID: m.ID, Name: m.Name, Ours: true, Service: m.Service, Host: v.node,
		State: compute.Moving, Partial: true,
	}
}

// given are the addresses that it was given.
func (v *vm) given() (all []netip.Addr) {
	p := readProperties(v.next["ipconfig0"])
	for _, name := range []string{"ip", "ip6"} {
		if prefix, err := netip.ParsePrefix(p[name]); err == nil {
			all = append(all, prefix.Addr())
		}
	}
	return all
}
