package reconcile

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// snapshots is the strategy for snapshots of machines (docs/machines.md, "Snapshots"). They
// are named after our numbers, and end with the disk of their machine.
type snapshots struct{ machines }

// A shelf is where the snapshots of a machine are.
type shelf struct {
	compute.Hypervisor

	external string
	machine  compute.Machine
}

// shelf is that of a snapshot's machine. A machine that is lost is a permanent failure,
// "absent".
func (s snapshots) shelf(ctx context.Context, w *desired) (shelf, error) {
	parent, _ := w.kind.Parent()
	whole := s.reconciler.resource(w.to(parent))
	whole.row = w.beside[whole.ref]
	if err := s.reconciler.complete(ctx, &whole); err != nil {
		return shelf{}, err
	}
	at, wanted, err := s.outside(&whole, "")
	if err != nil {
		return shelf{}, err
	}
	found, is, err := s.find(ctx, &whole)
	if err == nil && !is {
		err = errNoMachine
	}
	return shelf{at, found.External, wanted}, sagas.NothingSent(err)
}

// call: taking a snapshot again takes none.
func (snapshots) call(_ *attempt, run *hosting.Generation) (sagas.Call, error) {
	return sagas.Call{Request: *run, Repeatable: true}, nil
}

// claimOn: there is no claim, because the name follows from our number.
func (snapshots) claimOn(*desired, string) sagas.Claim { return sagas.Claim{} }

// awaitName lets the machine become as it is wanted to be first.
func (s snapshots) awaitName(a *attempt) error {
	parent, _ := a.want.kind.Parent()
	machine := a.want.beside[a.want.to(parent)]
	if machine.SyncStatus != "pending" || machine.Status == hosting.Leaving {
		return nil
	}
	return sagas.Await(machine.Ref().Stream(), "parent", 0)
}

func (s snapshots) bring(ctx context.Context, a *attempt) (sagas.Result, error) {
	name := hosting.SnapshotName(a.want.ref.ID)
	at, err := s.shelf(ctx, &a.want)
	if err == nil {
		err = at.TakeSnapshot(ctx, at.external, at.machine, name)
	}
	return sagas.Result{External: name}, err
}

// remove: what has gone with its machine is gone.
func (s snapshots) remove(ctx context.Context, a *attempt) error {
	at, err := s.shelf(ctx, &a.want)
	if err == nil {
		err = at.DropSnapshot(ctx, at.external, at.machine, hosting.SnapshotName(a.want.ref.ID))
	}
	if sagas.RefusedAs(err, "absent") {
		return nil
	}
	return err
}

// applied is when the hypervisor lists it.
func (s snapshots) applied(ctx context.Context, w *desired) (bool, sagas.Work, error) {
	at, err := s.shelf(ctx, w)
	if err != nil {
		return false, sagas.Work{}, err
	}
	all, err := at.Snapshots(ctx, at.external, at.machine)
	if err != nil {
		return false, sagas.Work{}, err
	}
	i := slices.IndexFunc(all, func(one compute.Snapshot) bool { return one.Name == hosting.SnapshotName(w.ref.ID) })
	if i < 0 {
		return false, sagas.Work{}, sagas.ErrAbsent
	}
	taken := field.Values{"taken_at": sagas.Encode(all[i].At.UTC())}
	confirm := w.confirm(sagas.Result{External: all[i].Name}, taken)
	return true, sagas.Work{Commands: []domain.Command{confirm}, Releases: w.ref.Stream()}, nil
}

// endParts are the commands that end the parts of a machine. They have gone with one that is
// removed; with another disk they are removed by runs of their own.
func (a *attempt) endParts() (all []domain.Command) {
	for _, part := range a.ending {
		if all = append(all, hosting.Remove{Ref: part.Ref()}); a.want.row.Status == hosting.Leaving {
			all = append(all, hosting.Confirm{Ref: part.Ref()})
		}
	}
	return all
}

// partsWithDisk are the parts of a machine that end with what is to be done: it is removed,
// or its disk is made of the template anew.
func (r *Reconciler) partsWithDisk(ctx context.Context, w *desired) (all []projections.Resource, err error) {
	if w.kind.Backend != hosting.Compute || len(w.kind.Children()) == 0 || w.byOrder && w.row.Status != hosting.Leaving {
		return nil, nil
	}
	spec, err := w.machineSpec()
	if err != nil || w.row.Status != hosting.Leaving && (spec.Snapshot != "" || spec.Disks <= spec.MadeDisks) {
		return nil, err
	}
	for _, child := range w.kind.Children() {
		parts, err := r.system().Hosting().PartsOf(ctx, child.Kind.Name, child.By, w.ref.ID)
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}
