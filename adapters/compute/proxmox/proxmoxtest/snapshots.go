package proxmoxtest

import (
	"fmt"
	"maps"
	"strings"
	"time"
)

// A snapshot has the settings of its moment. The contents of the disks are at the volumes.
type snapshot struct {
	conf map[string]string
	at   time.Time
}

// diskVolumes are the volumes of the disks of a configuration.
func (s *Server) diskVolumes(conf map[string]string) (all []*Volume) {
	for _, key := range sorted(conf) {
		p := parts(conf[key])
		if v := s.volumes[p[""]]; isDrive(key) && p["media"] != "cdrom" && v != nil {
			all = append(all, v)
		}
	}
	return all
}

func (s *Server) inSnapshot(m *machine, volume string) bool {
	for _, snap := range m.snapshots {
		for _, v := range s.diskVolumes(snap.conf) {
			if v.Name == volume {
				return true
			}
		}
	}
	return false
}

func listSnapshots(s *Server, m *machine, r request) (any, error) {
	rows := []any{}
	for _, name := range sorted(m.snapshots) {
		rows = append(rows, map[string]any{"name": name, "snaptime": m.snapshots[name].at.Unix(), "vmstate": 0, "description": ""})
	}
	return append(rows, map[string]any{"name": "current", "running": number01(m.running), "description": "You are here!"}), nil
}

func takeSnapshot(s *Server, m *machine, r request) (any, error) {
	name := r.form["snapname"]
	if name == "current" {
		return nil, dies("unable to use snapshot name 'current' (reserved name)")
	}
	return s.begin("qmsnapshot", m.node, r.path["vmid"], func() string {
		if m.locked() == "" && m.snapshots[name] != nil {
			return fmt.Sprintf("snapshot name '%s' already used", name)
		}
		return m.lock("snapshot")
	}, func() string {
		for _, v := range s.diskVolumes(m.conf) {
			v.saved[name] = v.Content
		}
		delete(m.conf, "lock")
		m.snapshots[name] = &snapshot{conf: maps.Clone(m.conf), at: time.Unix(1_700_000_000+int64(s.clock), 0)}
		return ""
	})
}

// lock sets a lock; the text is why it cannot.
func (m *machine) lock(as string) string {
	if m.locked() != "" {
		return m.locked()
	}
	m.conf["lock"] = as
	return ""
}

func dropSnapshot(s *Server, m *machine, r request) (any, error) {
	name := r.path["name"]
	return s.begin("qmdelsnapshot", m.node, r.path["vmid"], func() string {
		if m.snapshots[name] == nil {
			return fmt.Sprintf("snapshot '%s' does not exist", name)
		}
		return m.lock("snapshot-delete")
	}, func() string {
		for _, v := range s.diskVolumes(m.snapshots[name].conf) {
			delete(v.saved, name)
		}
		delete(m.snapshots, name)
		delete(m.conf, "lock")
		return ""
	})
}

// rollBack brings back the disks and the settings, except the description and the volumes
// that are not used. A disk that the snapshot does not have becomes one of these.
func rollBack(s *Server, m *machine, r request) (any, error) {
	name := r.path["name"]
	return s.begin("qmrollback", m.node, r.path["vmid"], func() string {
		if m.snapshots[name] == nil {
			return fmt.Sprintf("snapshot '%s' does not exist", name)
		}
		failed := m.lock("rollback")
		m.running = m.running && failed != ""
		return failed
	}, func() string {
		snap := m.snapshots[name]
		kept := map[string]string{"description": m.conf["description"]}
		for key, value := range m.conf {
			if strings.HasPrefix(key, "unused") {
				kept[key] = value
			}
		}
		before := s.diskVolumes(m.conf)
		m.conf, m.pending, m.deletes = maps.Clone(snap.conf), map[string]string{}, map[string]bool{}
		maps.DeleteFunc(m.conf, func(key, _ string) bool { return strings.HasPrefix(key, "unused") })
		maps.Copy(m.conf, kept)
		for _, v := range s.diskVolumes(snap.conf) {
			v.Content = v.saved[name]
		}
		leaveUnused(s, m, before)
		return ""
	})
}

func leaveUnused(s *Server, m *machine, before []*Volume) {
	used := map[string]bool{}
	for _, v := range s.diskVolumes(m.conf) {
		used[v.Name] = true
	}
	maps.DeleteFunc(m.conf, func(key, value string) bool { return strings.HasPrefix(key, "unused") && used[value] })
	for _, v := range before {
		if !used[v.Name] {
			m.addUnused(v.Name)
		}
	}
}
