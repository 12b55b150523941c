package libvirt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	rpc "github.com/digitalocean/go-libvirt"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

// A snapshot is inside the file of the disk (qcow2), so it is made in a moment and takes no
// room at first. libvirt makes one of a running machine with its memory alone, for which the
// machine stands still. So QEMU is asked for one of the disk, and libvirt is told of it.

// Snapshots are those of a machine, oldest first.
func (h *Hypervisor) Snapshots(ctx context.Context, external string, m compute.Machine) (all []compute.Snapshot, err error) {
	err = h.read(ctx, "read the snapshots", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		all, err = s.snapshots(g)
		return err
	})
	return all, err
}

func (s *session) snapshots(g *guest) ([]compute.Snapshot, error) {
	found, _, err := s.DomainListAllSnapshots(g.Domain, 1, 0)
	if err != nil {
		return nil, err
	}
	all := make([]compute.Snapshot, 0, len(found))
	for _, one := range found {
		text, err := s.DomainSnapshotGetXMLDesc(one, 0)
		if is(err, rpc.ErrNoDomainSnapshot) {
			continue
		}
		if err != nil {
			return nil, err
		}
		at, err := madeAt(text)
		if err != nil {
			return nil, err
		}
		all = append(all, compute.Snapshot{Name: one.Name, At: at})
	}
	slices.SortFunc(all, func(a, b compute.Snapshot) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.Name, b.Name)) })
	return all, nil
}

// madeAt is when a snapshot was made. Its description says it more exactly than libvirt,
// which counts seconds.
func madeAt(text string) (time.Time, error) {
	var read libvirtxml.DomainSnapshot
	if err := read.Unmarshal(text); err != nil {
		return time.Time{}, permanent("unreadable", "the description of a snapshot: %w", err)
	}
	if at, err := time.Parse(time.RFC3339Nano, read.Description); err == nil {
		return at, nil
	}
	seconds, _ := strconv.ParseInt(read.CreationTime, 10, 64)
	return time.Unix(seconds, 0).UTC(), nil
}

// snapshot returns a snapshot that is to be there.
func (s *session) snapshot(g *guest, name string) (rpc.DomainSnapshot, error) {
	found, err := s.DomainSnapshotLookupByName(g.Domain, name, 0)
	if is(err, rpc.ErrNoDomainSnapshot) {
		err = permanent("no_snapshot", "the machine has no snapshot %q", name)
	}
	return found, err
}

// TakeSnapshot makes a snapshot of a machine's disk.
func (h *Hypervisor) TakeSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return h.write(ctx, "take a snapshot", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		_, err = s.DomainSnapshotLookupByName(g.Domain, name, 0)
		if !is(err, rpc.ErrNoDomainSnapshot) {
			return err
		}
		return h.takeSnapshot(s, g, name)
	})
}

func (h *Hypervisor) takeSnapshot(s *session, g *guest, name string) error {
	wanted := &libvirtxml.DomainSnapshot{
		Name: name, Description: h.Now().UTC().Format(time.RFC3339Nano),
		Disks: &libvirtxml.DomainSnapshotDisks{Disks: []libvirtxml.DomainSnapshotDisk{
			{Name: diskTarget, Snapshot: "internal"}, {Name: seedTarget, Snapshot: "no"},
		}},
	}
	if pathAt(g.defined, rescueTarget) != "" {
		wanted.Disks.Disks = append(wanted.Disks.Disks, libvirtxml.DomainSnapshotDisk{Name: rescueTarget, Snapshot: "no"})
	}
	flags := uint32(0)
	if g.running() {
		if err := h.snapshotLive(s, g, name); err != nil {
			return err
		}
		flags = uint32(rpc.DomainSnapshotCreateRedefine)
		wanted.State, wanted.CreationTime, wanted.Domain = "shutoff", strconv.FormatInt(h.Now().Unix(), 10), g.defined
	}
	text, err := wanted.Marshal()
	if err != nil {
		return fmt.Errorf("write the description of a snapshot: %w", err)
	}
	_, err = s.DomainSnapshotCreateXML(g.Domain, text, flags)
	return err
}

// snapshotLive lets QEMU make the snapshot of a running machine's disk.
func (h *Hypervisor) snapshotLive(s *session, g *guest, name string) error {
	if h.target.hollow {
		return nil
	}
	node, err := s.node(g)
	if err != nil {
		return err
	}
	arguments := map[string]any{"device": node, "name": name}
	err = s.ask(g, "blockdev-snapshot-internal-sync", arguments, nil)
	if err != nil && strings.Contains(err.Error(), "already exists") { // an earlier attempt has made it
		return nil
	}
	return err
}

// node is QEMU's name of the machine's disk.
func (s *session) node(g *guest) (string, error) {
	var blocks []struct {
		Inserted struct {
			File string `json:"file"`
			Node string `json:"node-name"`
		} `json:"inserted"`
	}
	if err := s.ask(g, "query-block", nil, &blocks); err != nil {
		return "", err
	}
	for _, b := range blocks {
		if b.Inserted.File == diskPath(g.live) {
			return b.Inserted.Node, nil
		}
	}
	return "", permanent("unreadable", "QEMU does not name the disk of the machine")
}

// ask sends a command to the machine's QEMU.
func (s *session) ask(g *guest, command string, arguments map[string]any, into any) error {
	request := map[string]any{"execute": command}
	if arguments != nil {
		request["arguments"] = arguments
	}
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	answered, err := s.QEMUDomainMonitorCommand(g.Domain, string(text), 0)
	if err != nil {
		return err
	}
	answer := struct {
		Return any `json:"return"`
		Error  *struct {
			Desc string `json:"desc"`
		} `json:"error"`
	}{Return: into}
	if err := json.Unmarshal([]byte(answered), &answer); err != nil {
		return errors.New("QEMU's answer is not JSON")
	}
	if answer.Error != nil {
		return permanent("refused", "QEMU refuses %s: %s", command, answer.Error.Desc)
	}
	return nil
}

// DropSnapshot deletes a snapshot.
func (h *Hypervisor) DropSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return h.write(ctx, "drop a snapshot", func(s *session) error {
		g, err := h.ours(s, external, m)
		if err != nil {
			return err
		}
		found, err := s.DomainSnapshotLookupByName(g.Domain, name, 0)
		if err == nil {
			err = s.DomainSnapshotDelete(found, 0)
		}
		if is(err, rpc.ErrNoDomainSnapshot) {
			return nil
		}
		return err
	})
}

// revert brings the disk of a machine that is off back to a snapshot. libvirt brings the
// definition back too, so it is read anew. Doing it again loses nothing while it is off.
func (s *session) revert(g *guest, name string) error {
	found, err := s.snapshot(g, name)
	if err != nil {
		return err
	}
	if err := s.DomainRevertToSnapshot(found, 0); err != nil {
		return fmt.Errorf("go back to the snapshot: %w", err)
	}
	now, err := s.lookup(g.id())
	if err != nil {
		return err
	}
	if now == nil {
		return permanent("absent", "there is no machine %s", g.id())
	}
	g.defined = now.defined
	return nil
}

// forgetSnapshots takes note that the snapshots of a machine go with its disk.
func (s *session) forgetSnapshots(g *guest) error {
	all, _, err := s.DomainListAllSnapshots(g.Domain, 1, 0)
	for _, one := range all {
		if err == nil {
			err = s.DomainSnapshotDelete(one, rpc.DomainSnapshotDeleteMetadataOnly)
		}
	}
	return err
}
