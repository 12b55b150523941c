package reconcile

import (
	"context"
	"errors"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Machines are made by orders. What is asked of one later, to rest with its
// tenant, to run again or to leave, starts a run that brings the hypervisor to
// what the machine is by then (docs/sagas.md, "Machines").

// pushMachine switches a machine on or off, or removes it. Doing it again
// changes nothing; only what has our tag is touched.
func (r *Reconciler) pushMachine(ctx context.Context, run *hosting.Generation) (sagas.Call, error) {
	row, err := r.recorded(ctx, run)
	if err != nil {
		return sagas.Call{}, err
	}
	w := desired{ref: run.Ref(), row: row}
	if done, err := r.upToDate(ctx, run, w); err != nil || done {
		return w.nothing(), err
	}
	if err := r.afterEarlier(ctx, run, w); err != nil {
		return sagas.Call{}, err
	}
	return sagas.Call{
		Request: *run, Repeatable: true,
		Do:        func(ctx context.Context) (sagas.Result, error) { return r.bringMachine(ctx, row) },
		Confirmed: func(result sagas.Result) sagas.Work { return machineBrought(row, result) },
	}, nil
}

func (r *Reconciler) bringMachine(ctx context.Context, row projections.Resource) (sagas.Result, error) {
	found, is, err := r.ourMachine(ctx, row)
	leaving := row.Status == hosting.Leaving
	switch {
	case err != nil:
		return sagas.Result{}, sagas.NothingSent(err)
	case !is && leaving:
		return sagas.Result{}, nil
	case !is:
		return sagas.Result{}, domain.Fail(domain.Permanent, "absent", errors.New("there is no machine with our tag"))
	case leaving:
		return sagas.Result{External: found.External}, r.compute.RemoveVM(ctx, found.External)
	}
	return sagas.Result{External: found.External}, r.compute.SwitchVM(ctx, found.External, row.Active)
}

func (r *Reconciler) ourMachine(ctx context.Context, row projections.Resource) (hosting.VM, bool, error) {
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return hosting.VM{}, false, err
	}
	found, is, err := r.compute.FindVM(ctx, m.Tag, m.Name)
	return found, is && found.Tag == m.Tag, err
}

// machineBrought confirms the generation that was carried out.
func machineBrought(row projections.Resource, r sagas.Result) sagas.Work {
	answer := hosting.Confirm{Ref: row.Ref(), External: r.External, Version: row.Wish}
	work := sagas.Work{Releases: row.Ref().Stream()}
	if row.Status == hosting.Leaving {
		answer.External = ""
		work.Rows = append(work.Rows, sagas.FreeClaims(row.Ref().Stream(), sagas.Claim{}))
	}
	work.Commands = []domain.Command{answer}
	return work
}

// machineApplied is when the machine is on or off as it is wanted to be.
func (r *Reconciler) machineApplied(ctx context.Context, run *hosting.Generation) (bool, sagas.Work, error) {
	row, err := r.recorded(ctx, run)
	if err != nil || settled(row, run) {
		return err == nil, sagas.Work{}, err
	}
	found, is, err := r.ourMachine(ctx, row)
	if err == nil && !is {
		err = sagas.ErrAbsent
	}
	wanted := map[bool]string{true: "running", false: "stopped"}[row.Active]
	seen := hosting.Confirm{Ref: row.Ref(), External: found.External, Version: row.Wish}
	return found.State == wanted, sagas.Work{Commands: []domain.Command{seen}}, err
}

// lookTime is how long a look at a machine waits for the hypervisor.
const lookTime = 5 * time.Second

// SeeMachine tells what the hypervisor says of a machine now. False: it does not know the
// machine, or does not answer.
func (r *Reconciler) SeeMachine(ctx context.Context, ref hosting.Ref) (hosting.VM, bool, error) {
	found, err := r.system().Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known {
		return hosting.VM{}, false, err
	}
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	seen, is, err := r.ourMachine(asking, row)
	if _, failed := errors.AsType[*domain.Failure](err); failed || asking.Err() != nil {
		return hosting.VM{}, false, nil
	}
	return seen, is, err
}
