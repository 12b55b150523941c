package proxmoxtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// parts are those of a value such as "virtio=…,bridge=vmbr0"; the unnamed one is at "".
func parts(value string) map[string]string {
	p := map[string]string{}
	for _, part := range strings.Split(value, ",") {
		if name, is, named := strings.Cut(part, "="); named {
			p[name] = is
		} else if part != "" {
			p[""] = part
		}
	}
	return p
}

func join(p map[string]string) string {
	var all []string
	for _, name := range sorted(p) {
		if name == "" {
			all = append(all, p[name])
		} else {
			all = append(all, name+"="+p[name])
		}
	}
	return strings.Join(all, ",")
}

func getConfig(s *Server, m *machine, r request) (any, error) {
	conf := maps.Clone(m.conf)
	if r.form["current"] != "1" {
		maps.Copy(conf, m.pending)
		for key := range m.deletes {
			delete(conf, key)
		}
	}
	if conf["cipassword"] != "" {
		conf["cipassword"] = "**********"
	}
	return conf, nil
}

func getPending(s *Server, m *machine, r request) (any, error) {
	rows := []any{}
	for _, key := range sorted(m.conf) {
		row := map[string]any{"key": key, "value": m.conf[key]}
		if key == "cipassword" {
			row["value"] = "**********"
		}
		if value, is := m.pending[key]; is {
			row["pending"] = value
		}
		if m.deletes[key] {
			row["delete"] = 1
		}
		rows = append(rows, row)
	}
	for _, key := range sorted(m.pending) {
		if _, is := m.conf[key]; !is {
			rows = append(rows, map[string]any{"key": key, "pending": m.pending[key]})
		}
	}
	return rows, nil
}

// putConfig changes the settings at once.
func putConfig(s *Server, r request) (any, error) {
	m, err := s.mayConfigure(r)
	if err != nil {
		return nil, err
	}
	return nil, s.configure(m, r.form)
}

// postConfig changes them in a task.
func postConfig(s *Server, r request) (any, error) {
	m, err := s.mayConfigure(r)
	if err != nil {
		return nil, err
	}
	return s.begin("qmconfig", m.node, r.path["vmid"], func() string { return m.locked() }, func() string {
		if m.locked() != "" {
			return m.locked()
		}
		if err := s.configure(m, r.form); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (s *Server) mayConfigure(r request) (*machine, error) {
	if len(r.form) == 0 {
		return nil, dies("no options specified")
	}
	for key, value := range r.form {
		if err := s.maySet(r, key, value); err != nil {
			return nil, err
		}
	}
	return s.unlocked(r)
}

func (s *Server) maySet(r request, key, value string) error {
	on := "/vms/" + r.path["vmid"]
	for _, setting := range settings {
		if setting.name.MatchString(key) && setting.privilege != "" {
			if err := s.allowed(setting.privilege, on); err != nil {
				return err
			}
		}
	}
	switch {
	case strings.HasPrefix(key, "net"):
		return s.allowed("SDN.Use", "/sdn/zones/localnetwork/"+parts(value)["bridge"])
	case isDrive(key) && (strings.Contains(value, "media=cdrom") || strings.HasSuffix(value, ":cloudinit")):
		return s.allowed("VM.Config.CDROM", on)
	case isDrive(key):
		if err := s.allowed("VM.Config.Disk", on); err != nil {
			return err
		}
		return s.allowed("Datastore.AllocateSpace", "/storage/"+strings.Split(value, ":")[0])
	}
	return nil
}

var isHash = regexp.MustCompile(`^\$(?:[156]|2[ay])(\$.+){2}`)

// configure applies what counts at once, and the rest too if the machine is off.
func (s *Server) configure(m *machine, form map[string]string) error {
	for _, key := range strings.Split(form["delete"], ",") {
		if err := s.drop(m, key); err != nil {
			return err
		}
	}
	for _, key := range sorted(form) {
		value, err := s.setting(m, key, form[key])
		switch {
		case err != nil:
			return err
		case key == "cipassword": // is never pending
			m.conf[key] = value
		case key != "delete" && key != "digest" && key != "background_delay":
			delete(m.deletes, key)
			m.pending[key] = value
		}
	}
	for key, value := range m.pending {
		if isLive(key) || value == m.conf[key] {
			m.set(key, value)
		}
	}
	if !m.running {
		m.apply()
	}
	return nil
}

// setting is what becomes of a value that is set.
func (s *Server) setting(m *machine, key, value string) (string, error) {
	switch p := parts(value); {
	case key == "cipassword" && !isHash.MatchString(value):
		return "$5$saltsalt$" + value + "hashed again", nil
	case key == "description":
		return lines(value), nil
	case strings.HasPrefix(key, "ipconfig") && (p["gw"] != "" && p["ip"] == "" || p["gw6"] != "" && p["ip6"] == ""):
		return "", invalid(key, "invalid format - missing key in comma-separated list property: gateway requires an address")
	case isDrive(key):
		return s.drive(m, key, p)
	}
	return value, nil
}

// drop deletes a setting: a volume that is not used is freed, others go with the next start.
func (s *Server) drop(m *machine, key string) error {
	_, set := m.conf[key]
	_, pending := m.pending[key]
	if key == "" || !set && !pending {
		return nil
	}
	if strings.HasPrefix(key, "unused") {
		if s.inSnapshot(m, m.conf[key]) {
			return dies("unable to delete '%s' - volume is still in use (snapshot?)", m.conf[key])
		}
		delete(s.volumes, m.conf[key])
		delete(m.conf, key)
		return nil
	}
	delete(m.pending, key)
	m.deletes[key] = true
	if isLive(key) {
		m.unset(key)
	}
	return nil
}

// set gives a setting its value. The disk that was in a drive becomes an unused volume.
func (m *machine) set(key, value string) {
	old := m.conf[key]
	if isDrive(key) && old != "" && parts(old)["media"] != "cdrom" && parts(old)[""] != parts(value)[""] {
		m.addUnused(parts(old)[""])
	}
	m.conf[key] = value
	delete(m.pending, key)
}

func (m *machine) unset(key string) {
	if old := m.conf[key]; isDrive(key) && parts(old)["media"] != "cdrom" {
		m.addUnused(parts(old)[""])
	}
	delete(m.conf, key)
	delete(m.deletes, key)
}

func (m *machine) addUnused(volume string) {
	for n := 0; ; n++ {
		key := fmt.Sprintf("unused%d", n)
		if m.conf[key] == volume {
			return
		}
		if m.conf[key] == "" {
			m.conf[key] = volume
			return
		}
	}
}

// apply makes what is pending count.
func (m *machine) apply() {
	for _, key := range slices.Collect(maps.Keys(m.deletes)) {
		m.unset(key)
	}
	for _, key := range sorted(m.pending) {
		m.set(key, m.pending[key])
	}
}
