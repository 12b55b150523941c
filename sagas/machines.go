package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Machines are made by orders. What is asked of one later, to rest with its
// tenant, to run again or to leave, starts a run that brings the hypervisor to
// what the machine is by then (docs/sagas.md, "Machines").

const machineDef = "machine/1"

// The steps of a run that works for one machine.
const (
	machineStep        = "machine"
	machineAppliedStep = "machine.applied"
)

func (s *Sagas) machineSteps() []step {
	queue := computeQueue(s.compute)
	return []step{
		{
			name: machineStep, says: "bring the hypervisor to what is wanted of the machine", queue: queue, policy: s.policies.push,
			effect: &effect{key: pushKey, prepare: s.machineCall},
		},
		{
			name: machineAppliedStep, says: "wait until the hypervisor has carried it out", queue: queue, policy: s.policies.vm,
			wait: &until{ready: s.machineApplied},
		},
	}
}

// powering is the run for a wish about a machine.
func (s *Sagas) powering(j Job) Start {
	return Start{Key: "machine:" + wishOf(j), Def: machineDef, Steps: s.places([]string{machineStep, machineAppliedStep}), Job: j}
}

// machineCall switches a machine on or off, or removes it. Doing it again
// changes nothing; only what has our tag is touched.
func (s *Sagas) machineCall(ctx context.Context, job Job) (Call, error) {
	row, err := s.recorded(ctx, job)
	if err != nil {
		return Call{}, err
	}
	w := wanted{ref: job.ref(), row: row}
	if moot, err := s.moot(ctx, job, w); err != nil || moot {
		return w.nothing(), err
	}
	if err := s.afterEarlier(ctx, job, w); err != nil {
		return Call{}, err
	}
	return Call{
		Request: job.asked(), Repeatable: true,
		Do:        func(ctx context.Context) (Result, error) { return s.bringMachine(ctx, row) },
		Confirmed: func(r Result) Work { return machineBrought(row, r) },
	}, nil
}

func (s *Sagas) bringMachine(ctx context.Context, row projections.Resource) (Result, error) {
	found, is, err := s.ourMachine(ctx, row)
	leaving := row.Status == hosting.Leaving
	switch {
	case err != nil:
		return Result{}, unsent(err)
	case !is && leaving:
		return Result{}, nil
	case !is:
		return Result{}, domain.Fail(domain.Permanent, "absent", errors.New("there is no machine with our tag"))
	case leaving:
		return Result{External: found.External}, s.compute.RemoveVM(ctx, found.External)
	}
	return Result{External: found.External}, s.compute.SwitchVM(ctx, found.External, row.Active)
}

func (s *Sagas) ourMachine(ctx context.Context, row projections.Resource) (hosting.VM, bool, error) {
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return hosting.VM{}, false, err
	}
	found, is, err := s.compute.FindVM(ctx, m.Tag, m.Name)
	return found, is && found.Tag == m.Tag, err
}

// machineBrought confirms the wish that was carried out.
func machineBrought(row projections.Resource, r Result) Work {
	answer := hosting.Confirm{Ref: refTo(row), External: r.External, Version: row.Wish}
	rows := []eventstore.Row{wakeWaiting(refTo(row))}
	if row.Status == hosting.Leaving {
		answer.External = ""
		rows = append(rows, freeRow(refTo(row).Stream(), Claim{}))
	}
	return Work{Commands: []domain.Command{answer}, Rows: rows}
}

// machineApplied is when the machine is on or off as it is wanted to be.
func (s *Sagas) machineApplied(ctx context.Context, job Job) (bool, Work, error) {
	row, err := s.recorded(ctx, job)
	if err != nil || row.Wish > job.Version || row.Status != hosting.Running {
		return err == nil, Work{}, err // a later wish, or nothing to wait for
	}
	found, is, err := s.ourMachine(ctx, row)
	wanted := map[bool]string{true: "running", false: "stopped"}[row.Active]
	return is && found.State == wanted, Work{}, err
}
