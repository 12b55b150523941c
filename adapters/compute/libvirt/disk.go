package libvirt

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain/compute"
)

// pause is how long a machine that is on its way is left alone.
const pause = 2 * time.Second

// A diskCopy is a disk that is being made. It may take longer than a call, so it goes on
// by itself; the next call for the disk waits for it.
type diskCopy struct {
	done chan struct{}
	err  error
}

// makeDisk makes the disk of a machine and what cloud-init reads. Made ones are kept.
func (h *Hypervisor) makeDisk(ctx context.Context, m compute.Machine) error {
	name := diskName(m, m.Disk)
	h.mu.Lock()
	c := h.copies[name]
	if c == nil {
		c = &diskCopy{done: make(chan struct{})}
		h.copies[name] = c
		go func() {
			defer close(c.done)
			c.err = h.write(h.ended, "make the disk", func(s *session) error { return h.copyTemplate(s, m) })
		}()
	}
	h.mu.Unlock()
	select {
	case <-c.done:
		h.mu.Lock()
		if h.copies[name] == c {
			delete(h.copies, name)
		}
		h.mu.Unlock()
		return c.err
	case <-ctx.Done():
		return compute.OnItsWay(pause)
	}
}

// isCopying reports whether a disk of the machine is being made by this process.
func (h *Hypervisor) isCopying(m compute.Machine) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, c := range h.copies {
		if of, _ := machineOf(name); of.id == shortID(m.ID) {
			select {
			case <-c.done:
				delete(h.copies, name)
			default:
				return true
			}
		}
	}
	return false
}

// copyTemplate makes a disk. The volume for cloud-init comes last: with it the disk is
// complete. A disk without it may be half a copy, so it is made anew.
func (h *Hypervisor) copyTemplate(s *session, m compute.Machine) error {
	p, err := s.pool(h.Pool)
	if err != nil {
		return err
	}
	_, complete, err := s.volume(p, seedName(m, m.Disk))
	if err != nil {
		return err
	}
	if !complete {
		if err := h.clone(s, p, m); err != nil {
			return err
		}
	}
	return h.writeSeed(s, p, m, m.Disk)
}

func (h *Hypervisor) clone(s *session, p pool, m compute.Machine) error {
	template, bytes, err := h.template(s, p, m)
	if err != nil {
		return err
	}
	if err := s.drop(p, diskName(m, m.Disk)); err != nil {
		return err
	}
	if p.available < bytes {
		return permanent("node_full", "the storage pool %q has %d GB left", h.Pool, p.available>>30)
	}
	text, err := volumeXML(diskName(m, m.Disk), bytes, "qcow2").Marshal()
	if err != nil {
		return err
	}
	disk, err := s.StorageVolCreateXMLFrom(p.StoragePool, text, template, 0)
	if is(err, rpc.ErrStorageVolExist) {
		return compute.OnItsWay(pause) // another process makes it
	}
	if err != nil {
		return fmt.Errorf("copy the template: %w", err)
	}
	_, capacity, _, err := s.StorageVolGetInfo(disk)
	if err != nil || capacity >= bytes {
		return err
	}
	return s.StorageVolResize(disk, bytes, 0)
}

// template is what a machine's disk is a copy of, and how large the disk is.
func (h *Hypervisor) template(s *session, p pool, m compute.Machine) (v rpc.StorageVol, bytes uint64, err error) {
	bytes = uint64(m.DiskGB) << 30
	if _, isMachines := machineOf(m.Template); m.Template == "" || isMachines {
		return v, bytes, permanent("no_template", "%q is not a template", m.Template)
	}
	v, there, err := s.volume(p, m.Template)
	if err != nil {
		return v, bytes, err
	}
	if !there {
		return v, bytes, permanent("no_template", "there is no template %q in the storage pool %q", m.Template, h.Pool)
	}
	_, capacity, _, err := s.StorageVolGetInfo(v)
	if err == nil && capacity > bytes {
		err = permanent("disk_shrinks", "the template %q needs a disk of %d GB", m.Template, (capacity+1<<30-1)>>30)
	}
	return v, bytes, err
}

// grow brings a machine's disk to its size, also while it runs.
func (s *session) grow(g *guest, m compute.Machine) error {
	path := diskPath(g.defined)
	have, err := s.sizeOf(path)
	if err != nil || have >= uint64(m.DiskGB)<<30 {
		return err
	}
	if g.running() {
		return s.DomainBlockResize(g.Domain, diskTarget, uint64(m.DiskGB)<<30, rpc.DomainBlockResizeBytes)
	}
	v, err := s.StorageVolLookupByPath(path)
	if err != nil {
		return err
	}
	return s.StorageVolResize(v, uint64(m.DiskGB)<<30, 0)
}

// growForTests makes a disk of libvirt's test driver anew, which can resize none. Its disks
// have no contents.
func (s *session) growForTests(p pool, g *guest, m compute.Machine) error {
	path := diskPath(g.defined)
	if have, err := s.sizeOf(path); err != nil || have >= uint64(m.DiskGB)<<30 {
		return err
	}
	name := filepath.Base(path)
	if err := s.drop(p, name); err != nil {
		return err
	}
	text, err := volumeXML(name, uint64(m.DiskGB)<<30, "qcow2").Marshal()
	if err == nil {
		_, err = s.StorageVolCreateXML(p.StoragePool, text, 0)
	}
	return err
}

// neverShrinks refuses a disk that is smaller than the one that there is.
func (s *session) neverShrinks(g *guest, m compute.Machine) error {
	have, err := s.sizeOf(diskPath(g.defined))
	if err == nil && have > uint64(m.DiskGB)<<30 {
		err = permanent("disk_shrinks", "the disk has %d GB", have>>30)
	}
	return err
}
