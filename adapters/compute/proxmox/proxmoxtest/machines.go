package proxmoxtest

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A machine is one of the cluster. While it runs, a setting has the value that it was
// started with, and pending the one that counts next.
type machine struct {
	id       int64
	node     string
	template bool
	hidden   bool // from the token
	conf     map[string]string
	pending  map[string]string
	deletes  map[string]bool // pending

	running bool
	pid     int
	in, out int64 // bytes of this run

	snapshots map[string]*snapshot
	firewall  map[string]string
	sets      map[string][]string
}

func newMachine(id int64, node string) *machine {
	return &machine{
		id: id, node: node, conf: map[string]string{}, pending: map[string]string{}, deletes: map[string]bool{},
		snapshots: map[string]*snapshot{}, firewall: map[string]string{}, sets: map[string][]string{},
	}
}

// at is the machine of a path.
func (s *Server) at(r request) (*machine, error) {
	m, is := s.machines[r.id()]
	if !is || m.node != r.path["node"] {
		return nil, dies("Configuration file 'nodes/%s/qemu-server/%d.conf' does not exist", r.path["node"], r.id())
	}
	return m, nil
}

// unlocked is the machine of a path if nothing has locked it.
func (s *Server) unlocked(r request) (*machine, error) {
	m, err := s.at(r)
	if err == nil && m.conf["lock"] != "" {
		err = dies("VM is locked (%s)", m.conf["lock"])
	}
	return m, err
}

// locked is the error with which a task ends that finds a lock.
func (m *machine) locked() string {
	if m.conf["lock"] != "" {
		return "VM is locked (" + m.conf["lock"] + ")"
	}
	return ""
}

func (s *Server) forget(id int64) {
	delete(s.machines, id)
	maps.DeleteFunc(s.volumes, func(_ string, v *Volume) bool { return v.Owner == id })
}

func resources(s *Server, r request) (any, error) {
	rows, kind := []any{}, r.form["type"]
	for _, id := range sorted(s.machines) {
		if (kind == "" || kind == "vm") && !s.machines[id].hidden {
			rows = append(rows, machineRow(s, s.machines[id]))
		}
	}
	for _, name := range sorted(s.nodes) {
		n := s.nodes[name]
		row := map[string]any{"id": "node/" + name, "type": "node", "node": name, "status": "online"}
		if n.away {
			row["status"] = "offline"
		}
		if s.granted["Sys.Audit"] {
			row["maxcpu"], row["maxmem"] = n.cores, n.memoryMB<<20
		}
		if kind == "" || kind == "node" {
			rows = append(rows, row)
		}
		for _, id := range sorted(s.storages) {
			at := s.storages[id]
			if kind != "" && kind != "storage" || at.node != "" && at.node != name {
				continue
			}
			rows = append(rows, map[string]any{
				"id": "storage/" + name + "/" + id, "type": "storage", "storage": id, "node": name, "status": "available",
				"content": "images,rootdir", "shared": number01(at.shared), "maxdisk": at.size, "disk": s.used(at, name),
			})
		}
	}
	return rows, nil
}

func machineRow(s *Server, m *machine) map[string]any {
	row := m.row()
	row["id"], row["type"], row["node"], row["template"] = fmt.Sprintf("qemu/%d", m.id), "qemu", m.node, number01(m.template)
	if s.nodes[m.node].away {
		row["status"] = "unknown"
	}
	return row
}

// row is what lists and the status tell of a machine.
func (m *machine) row() map[string]any {
	row := map[string]any{
		"vmid": m.id, "name": m.conf["name"], "status": "stopped",
		"maxmem": whole(m.conf["memory"]) << 20, "cpus": max(1, whole(m.conf["cores"])),
		"disk": 0, "mem": 0, "netin": 0, "netout": 0, "uptime": 0, "cpu": 0,
	}
	if m.conf["name"] == "" {
		row["name"] = fmt.Sprintf("VM %d", m.id)
	}
	if m.running {
		row["status"], row["pid"], row["mem"] = "running", m.pid, whole(m.conf["memory"])<<19
		row["netin"], row["netout"] = m.in, m.out
	}
	if m.conf["lock"] != "" {
		row["lock"] = m.conf["lock"]
	}
	if m.template {
		row["template"] = 1
	}
	return row
}

func number01(is bool) int {
	if is {
		return 1
	}
	return 0
}

func nextID(s *Server, r request) (any, error) {
	if r.form["vmid"] == "" {
		for id := int64(100); ; id++ {
			if s.machines[id] == nil {
				return strconv.FormatInt(id, 10), nil
			}
		}
	}
	if s.machines[whole(r.form["vmid"])] != nil {
		return nil, invalid("vmid", "VM %s already exists", r.form["vmid"])
	}
	return r.form["vmid"], nil
}

func list(s *Server, r request) (any, error) {
	rows := []any{}
	for _, id := range sorted(s.machines) {
		if m := s.machines[id]; m.node == r.path["node"] {
			rows = append(rows, m.row())
		}
	}
	return rows, nil
}

func status(s *Server, m *machine, r request) (any, error) {
	if m.running { // something comes and goes all the time
		m.in, m.out = m.in+1500, m.out+900
	}
	row := m.row()
	row["qmpstatus"], row["ha"] = row["status"], map[string]any{"managed": 0}
	if strings.HasPrefix(m.conf["agent"], "1") || strings.Contains(m.conf["agent"], "enabled=1") {
		row["agent"] = 1
	}
	return row, nil
}

// clone copies a machine. The copy is visible from the first step on: locked, and with a
// description that is not its own.
func clone(s *Server, r request) (any, error) {
	from, err := s.unlocked(r)
	if err != nil {
		return nil, err
	}
	id, full := whole(r.form["newid"]), r.form["full"] == "1" || r.form["full"] == "" && !from.template
	needs := [][2]string{{"VM.Allocate", "/vms/" + r.form["newid"]}, {"Datastore.AllocateSpace", "/storage/" + r.form["storage"]}}
	for _, need := range needs {
		if err := s.allowed(need[0], need[1]); err != nil {
			return nil, err
		}
	}
	target := r.form["target"]
	switch storage := s.storages[r.form["storage"]]; {
	case r.form["storage"] != "" && !full:
		return nil, dies("parameter 'storage' not allowed for linked clones")
	case r.form["storage"] != "" && storage == nil:
		return nil, dies("storage '%s' does not exist", r.form["storage"])
	case target != "" && s.nodes[target] == nil:
		return nil, dies("no such cluster node '%s'", target)
	case target != "" && target != from.node && !isShared(s, from):
		return nil, dies("can't clone VM to node '%s' (VM uses local storage)", target)
	case s.machines[id] != nil:
		return nil, dies("unable to create VM %d: config file already exists", id)
	}
	c := &cloning{cluster: s, from: from, id: id, form: r.form, full: full}
	upid, err := s.begin("qmclone", from.node, strconv.FormatInt(from.id, 10), c.claim, c.copy, c.finish)
	c.task = s.tasks[len(s.tasks)-1]
	return upid, err
}

// A cloning is a clone under way.
type cloning struct {
	cluster *Server
	from    *machine
	id      int64
	form    map[string]string
	full    bool
	task    *task
}

func (c *cloning) claim() string {
	if held := c.cluster.machines[c.id]; held != nil {
		if held.conf["lock"] == "clone" {
			return fmt.Sprintf("can't lock file '/var/lock/qemu-server/lock-%d.conf' - got timeout", c.id)
		}
		return fmt.Sprintf("unable to create VM %d: config file already exists", c.id)
	}
	c.task.log = append(c.task.log, fmt.Sprintf("creating a clone of VM %d with ID %d", c.from.id, c.id))
	m := newMachine(c.id, c.from.node)
	m.conf["lock"], m.conf["description"] = "clone", "qmclone temporary file\n"
	c.cluster.machines[c.id] = m
	return ""
}

func (c *cloning) copy() string {
	m := c.cluster.machines[c.id]
	for key, value := range c.from.conf {
		p := parts(value)
		switch {
		case key == "template" || strings.HasPrefix(key, "unused"):
		case strings.HasPrefix(key, "net"):
			p["virtio"] = "BC:24:11:00:00:01"
			m.conf[key] = join(p)
		case isDrive(key) && p["media"] != "cdrom" || strings.Contains(value, "cloudinit"):
			copied, err := c.cluster.copyVolume(p[""], c.id, c.form["storage"], c.full)
			if err != "" {
				c.cluster.forget(c.id)
				return "clone failed: " + err
			}
			p[""] = copied
			m.conf[key] = join(p)
		default:
			m.conf[key] = value
		}
	}
	m.conf["smbios1"] = "uuid=" + uuid.NewString()
	m.conf["lock"], m.conf["name"] = "clone", c.form["name"]
	m.conf["description"] = lines(c.form["description"])
	m.firewall = maps.Clone(c.from.firewall)
	return ""
}

func (c *cloning) finish() string {
	m := c.cluster.machines[c.id]
	delete(m.conf, "lock")
	m.node = cmp.Or(c.form["target"], m.node)
	c.cluster.clones[c.id]++
	return ""
}

// lines is a description as it is read back: each line ends.
func lines(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func start(s *Server, m *machine, r request) (any, error) {
	return s.begin("qmstart", m.node, r.path["vmid"], func() string {
		switch {
		case m.locked() != "":
			return m.locked()
		case m.running:
			return fmt.Sprintf("VM %d already running", m.id)
		case m.template:
			return "you can't start a vm if it's a template"
		}
		m.apply()
		s.pids++
		m.running, m.pid, m.in, m.out = true, s.pids, 0, 0
		s.starts[m.id]++
		return ""
	})
}

func stop(s *Server, m *machine, r request) (any, error) {
	return s.begin("qmstop", m.node, r.path["vmid"], func() string {
		if m.locked() != "" {
			return m.locked()
		}
		if t := runs(s, "qmshutdown", r.path["vmid"]); t != nil && r.form["overrule-shutdown"] == "1" {
			t.exit = "interrupted by signal"
		}
		m.running = false
		return ""
	})
}

// shutdown asks the guest, which obeys at once unless such tasks are held.
func shutdown(s *Server, m *machine, r request) (any, error) {
	return s.begin("qmshutdown", m.node, r.path["vmid"], func() string {
		m.running = m.running && m.locked() != ""
		return m.locked()
	})
}

// destroy deletes a machine with its volumes.
func destroy(s *Server, m *machine, r request) (any, error) {
	early := func() string {
		switch {
		case m.conf["protection"] == "1":
			return fmt.Sprintf("can't remove VM %d - protection mode enabled", m.id)
		case m.running:
			return fmt.Sprintf("VM %d is running - destroy failed", m.id)
		}
		return ""
	}
	if text := early(); text != "" {
		return nil, dies("%s", text)
	}
	return s.begin("qmdestroy", m.node, r.path["vmid"], func() string {
		if text := early() + m.locked(); text != "" {
			return text
		}
		m.conf, m.pending, m.snapshots = map[string]string{"lock": "destroyed"}, map[string]string{}, map[string]*snapshot{}
		return ""
	}, func() string {
		s.forget(m.id)
		return ""
	})
}

func agentInterfaces(_ *Server, m *machine, _ request) (any, error) {
	if m.conf["agent"] == "" {
		return nil, dies("No QEMU guest agent configured")
	}
	if !m.running {
		return nil, dies("VM %d is not running", m.id)
	}
	addresses := []any{map[string]any{"ip-address": "fe80::1", "ip-address-type": "ipv6", "prefix": 64}}
	given := parts(m.conf["ipconfig0"])
	for _, name := range []string{"ip", "ip6"} {
		ip, bits, static := strings.Cut(given[name], "/")
		if !static && ip == "dhcp" {
			ip, bits, static = fmt.Sprintf("10.0.%d.%d", m.id/250%250, 2+m.id%250), "8", true
		}
		if static {
			addresses = append(addresses, map[string]any{"ip-address": ip, "ip-address-type": "ipv4", "prefix": whole(bits)})
		}
	}
	local := []any{map[string]any{"ip-address": "127.0.0.1"}}
	lo := map[string]any{"name": "lo", "hardware-address": "00:00:00:00:00:00", "ip-addresses": local}
	mac := strings.ToLower(parts(m.conf["net0"])["virtio"])
	eth := map[string]any{"name": "eth0", "hardware-address": mac, "ip-addresses": addresses}
	return map[string]any{"result": []any{lo, eth}}, nil
}
