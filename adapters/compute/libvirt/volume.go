package libvirt

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	rpc "github.com/digitalocean/go-libvirt"
	"github.com/google/uuid"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

// A pool is a storage pool with its room in bytes.
type pool struct {
	rpc.StoragePool

	capacity, available uint64
}

// pool returns the storage pool with a name.
func (s *session) pool(name string) (p pool, err error) {
	if p.StoragePool, err = s.StoragePoolLookupByName(name); err != nil {
		return p, err
	}
	state, capacity, _, available, err := s.StoragePoolGetInfo(p.StoragePool)
	if err == nil && state != uint8(rpc.StoragePoolRunning) {
		err = permanent("no_pool", "the storage pool %q is not active", name)
	}
	p.capacity, p.available = capacity, available
	return p, err
}

func (s *session) volumes(p pool) ([]string, error) {
	all, _, err := s.StoragePoolListAllVolumes(p.StoragePool, 1, 0)
	names := make([]string, 0, len(all))
	for _, v := range all {
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return names, err
}

// The volumes of a machine carry its name, the begin of its id, and what they hold: the
// number of a disk. So no other machine's volume has such a name.
var ofMachine = regexp.MustCompile(`^(.+)\.([0-9a-f]{8})\.(\d+|rescue)\.(qcow2|cidata\.iso)$`)

type volumeName struct{ name, id, number string }

func machineOf(volume string) (of volumeName, is bool) {
	parts := ofMachine.FindStringSubmatch(volume)
	if parts == nil {
		return of, false
	}
	return volumeName{parts[1], parts[2], parts[3]}, true
}

// number is that of a machine's volume at a path; 0: it is no machine's.
func number(path string) int64 {
	of, _ := machineOf(filepath.Base(path))
	n, _ := strconv.ParseInt(of.number, 10, 64)
	return n
}

func shortID(id uuid.UUID) string { return id.String()[:8] }

func stem(m compute.Machine) string { return m.Name + "." + shortID(m.ID) + "." }
func diskName(m compute.Machine, disk int64) string {
	return stem(m) + strconv.FormatInt(disk, 10) + ".qcow2"
}

func seedName(m compute.Machine, disk int64) string {
	return stem(m) + strconv.FormatInt(disk, 10) + ".cidata.iso"
}
func rescueName(m compute.Machine) string { return stem(m) + "rescue.qcow2" }

// volumesOf are the names of a machine's volumes, with whatever number.
func (s *session) volumesOf(p pool, m compute.Machine) ([]string, error) {
	names, err := s.volumes(p)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, stem(m)) }), err
}

// templates are the volumes that are no machine's.
func (h *Hypervisor) templates(s *session, p pool) ([]string, error) {
	names, err := s.volumes(p)
	return slices.DeleteFunc(names, func(name string) bool {
		_, is := machineOf(name)
		return is || name == h.Rescue
	}), err
}

// volume returns the volume with a name; false: there is none.
func (s *session) volume(p pool, name string) (rpc.StorageVol, bool, error) {
	v, err := s.StorageVolLookupByName(p.StoragePool, name)
	if is(err, rpc.ErrNoStorageVol) {
		return v, false, nil
	}
	return v, err == nil, err
}

// sizeOf is how many bytes the disk at a path has for the machine; 0: there is none.
func (s *session) sizeOf(path string) (uint64, error) {
	capacity, _, err := s.infoOf(path)
	return capacity, err
}

// infoOf is how many bytes a disk has for the machine, and takes at the host.
func (s *session) infoOf(path string) (capacity, allocated uint64, err error) {
	if path == "" {
		return 0, 0, nil
	}
	v, err := s.StorageVolLookupByPath(path)
	if err == nil {
		_, capacity, allocated, err = s.StorageVolGetInfo(v)
	}
	if is(err, rpc.ErrNoStorageVol) {
		return 0, 0, nil
	}
	return capacity, allocated, err
}

// drop deletes a volume. One that is gone, or is being made by a call that went on without
// us, is looked at: only the second is a wait.
func (s *session) drop(p pool, name string) error {
	v, there, err := s.volume(p, name)
	if err != nil || !there {
		return err
	}
	err = s.StorageVolDelete(v, 0)
	switch {
	case is(err, rpc.ErrNoStorageVol):
		return nil
	case is(err, rpc.ErrOperationInvalid):
		return compute.OnItsWay(pause)
	}
	return err
}

// dropOthers deletes the volumes of a machine that are not among those to keep.
func (s *session) dropOthers(p pool, m compute.Machine, keep ...string) error {
	names, err := s.volumesOf(p, m)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains(keep, name) {
			continue
		}
		if err := s.drop(p, name); err != nil {
			return err
		}
	}
	return nil
}

func volumeXML(name string, bytes uint64, format string) *libvirtxml.StorageVolume {
	v := &libvirtxml.StorageVolume{
		Name: name, Capacity: &libvirtxml.StorageVolumeSize{Unit: "bytes", Value: bytes},
		Target: &libvirtxml.StorageVolumeTarget{Format: &libvirtxml.StorageVolumeTargetFormat{Type: format}},
	}
	if format == "qcow2" {
		v.Allocation, v.Target.Compat = &libvirtxml.StorageVolumeSize{Value: 0}, "1.1"
	}
	return v
}

// makeRescue makes the disk of a machine's rescue system anew: a layer over the image.
func (h *Hypervisor) makeRescue(s *session, p pool, m compute.Machine) (path string, err error) {
	image, there, err := s.volume(p, cmp.Or(h.Rescue, "-"))
	switch {
	case err != nil:
		return "", err
	case !there:
		return "", permanent("not_supported", "the hypervisor has no rescue system")
	}
	if err := s.drop(p, rescueName(m)); err != nil {
		return "", err
	}
	below, err := s.volumeDescription(image)
	if err != nil {
		return "", err
	}
	v := volumeXML(rescueName(m), below.Capacity.Value, "qcow2")
	v.BackingStore = &libvirtxml.StorageVolumeBackingStore{Path: below.Target.Path, Format: below.Target.Format}
	text, err := v.Marshal()
	if err != nil {
		return "", err
	}
	made, err := s.StorageVolCreateXML(p.StoragePool, text, 0)
	if err != nil {
		return "", err
	}
	return s.StorageVolGetPath(made)
}

func (s *session) volumeDescription(v rpc.StorageVol) (*libvirtxml.StorageVolume, error) {
	text, err := s.StorageVolGetXMLDesc(v, 0)
	if err != nil {
		return nil, err
	}
	read := new(libvirtxml.StorageVolume)
	if err := read.Unmarshal(text); err != nil {
		return nil, permanent("unreadable", "the description of the volume %q: %w", v.Name, err)
	}
	if read.Capacity == nil || read.Target == nil {
		return nil, permanent("unreadable", "the volume %q has no size or no path", v.Name)
	}
	return read, nil
}

// pathOf is where a volume of a machine is, which has to be there.
func (s *session) pathOf(p pool, name string) (string, error) {
	v, there, err := s.volume(p, name)
	if err != nil {
		return "", err
	}
	if !there {
		return "", fmt.Errorf("the volume %q is gone", name)
	}
	return s.StorageVolGetPath(v)
}
