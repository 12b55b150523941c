package proxmoxtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// A Machine is one of the cluster as a story reads it.
type Machine struct {
	ID        int64
	Node      string
	Running   bool
	Config    map[string]string // as it runs
	Pending   map[string]string
	Firewall  map[string]string
	Allowed   []string // that the first card may send from
	Snapshots []string
}

// Machines are all but the templates, by their numbers.
func (s *Server) Machines() (all []Machine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range sorted(s.machines) {
		if m := s.machines[id]; !m.template {
			all = append(all, Machine{
				ID: id, Node: m.node, Running: m.running, Config: maps.Clone(m.conf), Pending: maps.Clone(m.pending),
				Firewall: maps.Clone(m.firewall), Snapshots: sorted(m.snapshots),
				Allowed: slices.Sorted(slices.Values(m.sets["ipfilter-net0"])),
			})
		}
	}
	return all
}

// Machine is one of them; nil: there is none.
func (s *Server) Machine(id int64) *Machine {
	all := s.Machines()
	if i := slices.IndexFunc(all, func(m Machine) bool { return m.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Volumes are the names of all volumes.
func (s *Server) Volumes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sorted(s.volumes)
}

// Clones is how many clones were ever made with a number.
func (s *Server) Clones(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clones[id]
}

// Starts is how often a machine was started.
func (s *Server) Starts(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starts[id]
}

// Write writes to the disk of a machine.
func (s *Server) Write(id int64, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.diskVolumes(s.machines[id].conf)[0].Content = content
}

// Read is what was written to the disk of a machine.
func (s *Server) Read(id int64) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.diskVolumes(s.machines[id].conf)[0].Content
}

// AddTemplate makes a template with a disk of gb gigabytes and a drive of cloud-init, in the
// storage "local-lvm".
func (s *Server) AddTemplate(id int64, name, node string, gb int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := newMachine(id, node)
	m.template = true
	disk := s.addVolume("local-lvm", node, id, "disk", gb*gigabyte, gb*gigabyte, "as in "+name)
	drive := s.addVolume("local-lvm", node, id, "cloudinit", 4<<20, 4<<20, "")
	m.conf = map[string]string{
		"name": name, "template": "1", "agent": "1", "boot": "order=scsi0;ide2;net0", "cores": "1", "memory": "512", "ostype": "l26",
		"scsi0": disk.Name + ",discard=on,size=" + sizeText(disk.Size), "ide2": drive.Name + ",media=cdrom",
		"net0": "virtio=BC:24:11:2E:C5:4A,bridge=vmbr0", "smbios1": "uuid=" + uuid.NewString(), "scsihw": "virtio-scsi-single",
	}
	s.machines[id] = m
}

// AddStranger makes a machine as an operator does, without the panel.
func (s *Server) AddStranger(id int64, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := newMachine(id, sorted(s.nodes)[0])
	disk := s.addVolume("local-lvm", m.node, id, "disk", gigabyte, gigabyte, "theirs")
	m.conf = map[string]string{
		"name": name, "cores": "2", "memory": "1024", "smbios1": "uuid=" + uuid.NewString(), "description": "The owner's own notes.\n",
		"scsi0": disk.Name + ",size=1G",
	}
	s.machines[id] = m
}

// Copy copies a machine as an operator does: with all its settings, under a new number.
func (s *Server) Copy(id, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := newMachine(to, s.machines[id].node)
	m.conf = maps.Clone(s.machines[id].conf)
	m.conf["smbios1"] = "uuid=" + uuid.NewString()
	s.machines[to] = m
	for _, v := range s.diskVolumes(m.conf) {
		name, _ := s.copyVolume(v.Name, to, "", true)
		m.conf["scsi0"] = name + ",size=" + sizeText(v.Size)
	}
}

// Hide takes a machine from what the token may see.
func (s *Server) Hide(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines[id].hidden = true
}

// Tasks is how many tasks of a kind were ever begun.
func (s *Server) Tasks(kind string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tasks {
		if t.kind == kind {
			n++
		}
	}
	return n
}

// MoveVolumes moves the volumes of a machine to another storage.
func (s *Server) MoveVolumes(id int64, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.machines[id]
	for key, value := range m.conf {
		p := parts(value)
		if v := s.volumes[p[""]]; isDrive(key) && v != nil {
			delete(s.volumes, v.Name)
			_, name, _ := strings.Cut(v.Name, ":")
			v.Name, v.Storage, v.Node = to+":"+name, to, ""
			s.volumes[v.Name], p[""] = v, v.Name
			m.conf[key] = join(p)
		}
	}
}

// Calls is how many calls were made.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock
}

// Delete deletes a machine as an operator does.
func (s *Server) Delete(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(id)
}

// Set changes a setting of a machine as an operator does.
func (s *Server) Set(id int64, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines[id].conf[key] = value
}

// Serial is the firmware's serial number with which a machine runs.
func (m Machine) Serial() string {
	text, err := base64.StdEncoding.DecodeString(parts(m.Config["smbios1"])["serial"])
	if err != nil {
		return fmt.Sprintf("not readable: %v", err)
	}
	return string(text)
}

// Card are the properties of the network card.
func (m Machine) Card() map[string]string { return parts(m.Config["net0"]) }

// Keys are the SSH keys that cloud-init gets.
func (m Machine) Keys() string {
	return strings.NewReplacer("%20", " ", "%0A", "\n", "%40", "@", "%2B", "+", "%2F", "/", "%3D", "=").Replace(m.Config["sshkeys"])
}
