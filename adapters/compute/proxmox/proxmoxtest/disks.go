package proxmoxtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Volume is a disk of a storage.
type Volume struct {
	Name    string // "local-lvm:vm-1077-disk-0"
	Storage string
	Node    string // "": of a shared storage
	Owner   int64
	Size    int64 // bytes
	Used    int64
	Content string // what is written on it
	saved   map[string]string
}

func (s *Server) addVolume(storageName, node string, owner int64, kind string, size, used int64, content string) *Volume {
	if s.storages[storageName].shared {
		node = ""
	}
	name := fmt.Sprintf("%s:vm-%d-%s", storageName, owner, kind)
	for n := 0; kind == "disk"; n++ {
		if name = fmt.Sprintf("%s:vm-%d-disk-%d", storageName, owner, n); s.volumes[name] == nil {
			break
		}
	}
	v := &Volume{
		Name: name, Storage: storageName, Node: node, Owner: owner, Size: size, Used: used, Content: content, saved: map[string]string{},
	}
	s.volumes[name] = v
	return v
}

// used is what is taken of a storage as a node sees it.
func (s *Server) used(at *storage, node string) (sum int64) {
	for _, v := range s.volumes {
		sum += v.Used * int64(number01(v.Storage == at.name && (v.Node == "" || v.Node == node)))
	}
	return sum
}

func (s *Server) free(storageName, node string) int64 {
	at := s.storages[storageName]
	return at.size - s.used(at, node)
}

func isShared(s *Server, m *machine) bool {
	return !slices.ContainsFunc(s.diskVolumes(m.conf), func(v *Volume) bool { return !s.storages[v.Storage].shared })
}

// copyVolume copies a volume for a machine. A linked copy takes next to nothing.
func (s *Server) copyVolume(name string, owner int64, storageName string, full bool) (copied, failed string) {
	from := s.volumes[name]
	if from == nil {
		return "", fmt.Sprintf("no such logical volume '%s'", name)
	}
	if storageName == "" {
		storageName = from.Storage
	}
	used, kind := int64(1<<20), "disk"
	if strings.HasSuffix(name, "-cloudinit") {
		kind = "cloudinit"
	} else if full {
		used = from.Size
	}
	node := from.Node
	if node == "" {
		node = s.machines[owner].node
	}
	if free := s.free(storageName, node); free < used {
		return "", fmt.Sprintf("not enough free space (%d < %d)", free, used)
	}
	return s.addVolume(storageName, node, owner, kind, from.Size, used, from.Content).Name, ""
}

// drive is the value of a drive that is set: the volume that it names is made first.
func (s *Server) drive(m *machine, key string, p map[string]string) (string, error) {
	storageName, rest, _ := strings.Cut(p[""], ":")
	switch {
	case s.volumes[p[""]] != nil || p["media"] == "cdrom":
		return join(p), nil
	case s.storages[storageName] == nil:
		return "", dies("storage '%s' does not exist", storageName)
	case rest == "cloudinit":
		for other, value := range m.conf {
			if strings.Contains(value, "-cloudinit") && other != "description" {
				return "", dies("%s - cloud-init drive is already attached at '%s'", key, other)
			}
		}
		v := s.addVolume(storageName, m.node, m.id, "cloudinit", 4<<20, 4<<20, "")
		return v.Name + ",media=cdrom", nil
	case p["import-from"] != "":
		return s.importDisk(m, storageName, p)
	}
	return "", invalid(key, "unable to parse drive options")
}

func (s *Server) importDisk(m *machine, storageName string, p map[string]string) (string, error) {
	source := s.volumes[p["import-from"]]
	if p[""] != storageName+":0" {
		return "", dies("'import-from' requires special syntax - use <storage ID>:0,import-from=<source>")
	}
	if source == nil || source.Node != "" && source.Node != m.node {
		return "", dies("cannot import from '%s' - owner VM not on local node", p["import-from"])
	}
	if err := s.allowed("VM.Clone", "/vms/"+strconv.FormatInt(source.Owner, 10)); err != nil {
		return "", err
	}
	copied, failed := s.copyVolume(source.Name, m.id, storageName, true)
	if failed != "" {
		return "", dies("cannot import from '%s' - %s", source.Name, failed)
	}
	delete(p, "import-from")
	p[""], p["size"] = copied, sizeText(source.Size)
	return join(p), nil
}

func sizeText(bytes int64) string {
	if bytes%gigabyte == 0 {
		return strconv.FormatInt(bytes>>30, 10) + "G"
	}
	return strconv.FormatInt(bytes>>20, 10) + "M"
}

func sizeOf(text string) int64 {
	units := map[byte]int64{'K': 1 << 10, 'M': 1 << 20, 'G': 1 << 30, 'T': 1 << 40}
	if unit := units[text[len(text)-1]]; unit != 0 {
		return whole(text[:len(text)-1]) * unit
	}
	return whole(text)
}

// resize makes a disk larger, never smaller.
func resize(s *Server, r request) (any, error) {
	m, err := s.unlocked(r)
	if err != nil {
		return nil, err
	}
	if m.conf[r.form["disk"]] == "" {
		return nil, dies("disk '%s' does not exist", r.form["disk"])
	}
	return s.begin("resize", m.node, r.path["vmid"], func() string {
		p := parts(m.conf[r.form["disk"]])
		v := s.volumes[p[""]]
		size := sizeOf(strings.TrimPrefix(r.form["size"], "+"))
		if strings.HasPrefix(r.form["size"], "+") {
			size += v.Size
		}
		switch {
		case m.locked() != "":
			return m.locked()
		case size < v.Size:
			return "shrinking disks is not supported"
		case v.Used >= v.Size && s.free(v.Storage, m.node) < size-v.Size:
			return fmt.Sprintf("not enough free space (%d < %d)", s.free(v.Storage, m.node), size-v.Size)
		}
		if v.Used >= v.Size {
			v.Used = size
		}
		v.Size, p["size"] = size, sizeText(size)
		m.conf[r.form["disk"]] = join(p)
		return ""
	})
}

func storageStatus(s *Server, r request) (any, error) {
	at := s.storages[r.path["storage"]]
	if at == nil || at.node != "" && at.node != r.path["node"] {
		return nil, dies("storage '%s' does not exist", r.path["storage"])
	}
	if err := s.allowed("Datastore.Audit|Datastore.AllocateSpace", "/storage/"+at.name); err != nil {
		return nil, err
	}
	used := s.used(at, r.path["node"])
	return map[string]any{
		"type": "lvmthin", "content": "images,rootdir", "active": 1, "enabled": 1, "shared": number01(at.shared),
		"total": at.size, "used": used, "avail": at.size - used,
	}, nil
}

func storageContent(s *Server, r request) (any, error) {
	if err := s.allowed("Datastore.Audit|Datastore.AllocateSpace", "/storage/"+r.path["storage"]); err != nil {
		return nil, err
	}
	rows := []any{}
	for _, name := range sorted(s.volumes) {
		v := s.volumes[name]
		if v.Storage == r.path["storage"] && (r.form["vmid"] == "" || whole(r.form["vmid"]) == v.Owner) {
			rows = append(rows, map[string]any{
				"volid": name, "vmid": v.Owner, "size": v.Size, "used": v.Used, "format": "raw", "content": "images",
			})
		}
	}
	return rows, nil
}
