package assembly

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Machines are made by orders. What is asked of one later, to rest with its
// tenant, to run again or to leave, starts a run that brings the hypervisor to
// what the machine is by then (docs/sagas.md, "Machines").

// machineCall switches a machine on or off, or removes it. Doing it again
// changes nothing; only what has our tag is touched.
func (s *Panel) machineCall(ctx context.Context, job *ResourceVersion) (sagas.Call, error) {
	row, err := s.recorded(ctx, job)
	if err != nil {
		return sagas.Call{}, err
	}
	w := desired{ref: job.ref(), row: row}
	if moot, err := s.upToDate(ctx, job, w); err != nil || moot {
		return w.nothing(), err
	}
	if err := s.afterEarlier(ctx, job, w); err != nil {
		return sagas.Call{}, err
	}
	return sagas.Call{
		Request: *job, Repeatable: true,
		Do:        func(ctx context.Context) (sagas.Result, error) { return s.bringMachine(ctx, row) },
		Confirmed: func(r sagas.Result) sagas.Work { return machineBrought(row, r) },
	}, nil
}

func (s *Panel) bringMachine(ctx context.Context, row projections.Resource) (sagas.Result, error) {
	found, is, err := s.ourMachine(ctx, row)
	leaving := row.Status == hosting.Leaving
	switch {
	case err != nil:
		return sagas.Result{}, sagas.NothingSent(err)
	case !is && leaving:
		return sagas.Result{}, nil
	case !is:
		return sagas.Result{}, domain.Fail(domain.Permanent, "absent", errors.New("there is no machine with our tag"))
	case leaving:
		return sagas.Result{External: found.External}, s.compute.RemoveVM(ctx, found.External)
	}
	return sagas.Result{External: found.External}, s.compute.SwitchVM(ctx, found.External, row.Active)
}

func (s *Panel) ourMachine(ctx context.Context, row projections.Resource) (hosting.VM, bool, error) {
	var m hosting.Machine
	if err := row.Load(&m); err != nil {
		return hosting.VM{}, false, err
	}
	found, is, err := s.compute.FindVM(ctx, m.Tag, m.Name)
	return found, is && found.Tag == m.Tag, err
}

// machineBrought confirms the wish that was carried out.
func machineBrought(row projections.Resource, r sagas.Result) sagas.Work {
	answer := hosting.Confirm{Ref: refTo(row), External: r.External, Version: row.Wish}
	rows := []eventstore.TxStatement{sagas.WakeWaiting(refTo(row).Stream())}
	if row.Status == hosting.Leaving {
		answer.External = ""
		rows = append(rows, sagas.FreeClaims(refTo(row).Stream(), sagas.Claim{}))
	}
	return sagas.Work{Commands: []domain.Command{answer}, Rows: rows}
}

// machineApplied is when the machine is on or off as it is wanted to be.
func (s *Panel) machineApplied(ctx context.Context, job *ResourceVersion) (bool, sagas.Work, error) {
	row, err := s.recorded(ctx, job)
	if err != nil || row.Wish > job.Version || row.Status != hosting.Running {
		return err == nil, sagas.Work{}, err // a later wish, or nothing to wait for
	}
	found, is, err := s.ourMachine(ctx, row)
	wanted := map[bool]string{true: "running", false: "stopped"}[row.Active]
	return is && found.State == wanted, sagas.Work{}, err
}
