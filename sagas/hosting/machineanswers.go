package hosting

import (
	"context"
	"fmt"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// The answers to differences between machines and their records.

// errSameMachine refuses an answer to a difference of a machine that is none any more.
var errSameMachine = sagas.NotNow("The record and the hypervisor do not differ any more.")

// settleMachine makes the machine, or its record, as the other is.
func (f *Differences) settleMachine(
	ctx context.Context, cause domain.Metadata, i projections.Incident, answer operations.AnswerIncident,
) error {
	ref := hosting.Ref{Kind: machineKind, ID: numberIn(i.About, "id")}
	rows, err := f.system().Hosting().Recorded(ctx, ref)
	if err != nil {
		return err
	}
	r, err := f.machineRecord(rows[ref])
	if err != nil {
		return err
	}
	if r.isOpen() {
		return errSameMachine
	}
	at, err := f.Compute.Of(r.server)
	if err != nil {
		return err
	}
	seen, is, err := f.machineAt(ctx, at, r.wanted)
	if err != nil {
		return err
	}
	command, err := r.answered(i.Kind, answer.Answer, seen, is)
	if err == nil && !is {
		err = f.refuseElsewhere(ctx, r.wanted)
	}
	if err != nil {
		return err
	}
	_, err = f.Store.Execute(ctx, cause, command, answer)
	f.Runner.Wake(f.Compute.Queue(r.server))
	return err
}

// refuseElsewhere refuses to make a machine that a hypervisor has, as after a move by hand.
func (d *Deps) refuseElsewhere(ctx context.Context, wanted compute.Machine) error {
	for _, at := range d.Compute {
		_, is, err := d.machineAt(ctx, at, wanted)
		if err != nil {
			return err
		}
		if is {
			return sagas.NotNow(fmt.Sprintf("The hypervisor %q has the machine. Move it back.", at.Server()))
		}
	}
	return nil
}

// answered is the command that an answer asks for, about a machine as it is now.
func (r machineRecord) answered(kind, answer string, seen compute.Seen, is bool) (domain.Command, error) {
	d, err := r.row.Draft()
	m, isMachine := d.Spec.(*hosting.Machine)
	switch {
	case err != nil:
		return nil, err
	case !isMachine, seen.Partial, is == (kind == operations.EngineMissing), is && len(r.wanted.Differences(seen)) == 0:
		return nil, errSameMachine
	case !is:
		m.Remake()
		return hosting.Change{Ref: r.row.Ref(), Spec: d.Changes(), Act: answer}, nil
	case answer == operations.Remake && r.wanted.IsPassed(seen):
		return nil, sagas.NotNow("The hypervisor cannot go back to what the record has. Let the record be as the hypervisor has it.")
	case answer == operations.Remake:
		return hosting.Push{Ref: r.row.Ref()}, nil
	}
	m.TakeOver(seen, r.row.Active)
	if taken := d.Changes(); len(taken) > 0 {
		return hosting.Adopt{Ref: r.row.Ref(), Spec: taken}, nil
	}
	return nil, sagas.NotNow("The panel cannot take over what the hypervisor has: the machine may not run.")
}

// removeOrphan removes a machine of ours that no record is about. It is looked for once more:
// a machine that a record is about by now, or that is a stranger's, stays.
func (f *Differences) removeOrphan(
	ctx context.Context, cause domain.Metadata, i projections.Incident, answer operations.AnswerIncident,
) error {
	at, err := f.Compute.Of(i.About["server"])
	if err != nil {
		return err
	}
	service := i.About["service"]
	orphan := compute.Machine{ID: compute.ID(f.Installation, service), Name: i.About["name"], Service: service}
	seen, is, err := f.machineAt(ctx, at, orphan)
	if err != nil {
		return err
	}
	records, err := f.machineRecords(ctx)
	if err != nil {
		return err
	}
	isKnown := slices.ContainsFunc(records, func(r machineRecord) bool { return r.wanted.ID == orphan.ID })
	if isKnown || !is || seen.External != i.About["external"] {
		return errSameMachine
	}
	call, cancel := context.WithTimeout(ctx, f.Runner.Times().Call)
	defer cancel()
	if err := at.Remove(call, seen.External, orphan); err != nil {
		return err
	}
	_, err = f.Store.Execute(ctx, cause, answer)
	return err
}
