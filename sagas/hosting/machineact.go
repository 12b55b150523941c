package hosting

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
)

// Machines does what owners ask of their machines beside changing fields.
type Machines struct{ Service *Service }

// Act does something with a machine. What is wrong with the form is a refusal of its fields.
// Of equal acts at once one is carried out.
func (a Machines) Act(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, f *hosting.MachineForm,
) (domain.Receipt, error) {
	s := a.Service
	if snapshot, is := d.Spec.(*hosting.MachineSnapshot); is {
		return a.restore(ctx, cause, by, d, snapshot.Machine, f)
	}
	m, is := d.Spec.(*hosting.Machine)
	if !is {
		return domain.Receipt{}, missing("VM")
	}
	err := a.apply(ctx, m, f)
	if err == nil && f.Installs() && m.Locked() {
		err = a.makePassword(ctx, d, m)
	}
	if err != nil {
		return domain.Receipt{}, err
	}
	d.Act = f.Act.Name
	if len(d.Changes()) == 0 && f.Act.Pushes {
		return s.Resources.Carry(ctx, cause(domain.Versions{d.Ref().Stream(): d.Version}), nil, hosting.Push{Ref: d.Ref()})
	}
	return s.Change(ctx, cause, by, d)
}

// makePassword makes up the password of a system that nothing else would let in.
func (a Machines) makePassword(ctx context.Context, d *hosting.Draft, m *hosting.Machine) error {
	row, err := a.Service.system().Hosting().Resource(ctx, d.Ref())
	person := domain.OrZero(row.Subject)
	m.Password, d.ShowTo = credentials.NewPassword(), &person
	return err
}

// HasPassword tells whether a password of root that was made up waits to be shown.
func (a Machines) HasPassword(ctx context.Context, of projections.Resource) (bool, error) {
	_, _, err := a.Service.Resources.Shown(ctx, of)
	if errors.Is(err, hosting.ErrNoPassword) {
		return false, nil
	}
	return err == nil, err
}

// ShowPassword returns it and destroys it.
func (a Machines) ShowPassword(ctx context.Context, cause domain.Metadata, of projections.Resource) (string, error) {
	return a.Service.Resources.Show(ctx, cause, of)
}

// apply makes a machine what a form asks for.
func (a Machines) apply(ctx context.Context, m *hosting.Machine, f *hosting.MachineForm) (err error) {
	if err := a.check(ctx, m, f); err != nil {
		return err
	}
	if err := f.Apply(m); err != nil || !f.Installs() {
		return err
	}
	m.Template, err = a.templateOf(ctx, m)
	return err
}

func (a Machines) check(ctx context.Context, m *hosting.Machine, f *hosting.MachineForm) error {
	var wrong field.Errors
	systems, err := a.systemsOf(ctx, m)
	if err == nil {
		f.Check(m, systems, &wrong)
		err = wrong.Err()
	}
	return err
}

// systemsOf are the systems that the owner of a machine may install: those of the plan that
// it came with, as it is now, and its own.
func (a Machines) systemsOf(ctx context.Context, m *hosting.Machine) ([]string, error) {
	own, read := []string{m.OS}, a.Service.system().Orders()
	id, err := uuid.Parse(m.Tag)
	if err != nil {
		return own, nil
	}
	o, err := read.Order(ctx, id)
	if isMissing(err) {
		return own, nil
	}
	if err != nil {
		return nil, err
	}
	plan, err := read.Plan(ctx, o.PlanID)
	if err != nil && !isMissing(err) {
		return nil, err
	}
	return append(own, plan.VPS.OSOptions...), nil
}

// restore makes the disk of a machine what a snapshot of it has kept. One that the
// hypervisor does not have yet is refused.
func (a Machines) restore(
	ctx context.Context, cause hosting.Cause, by projections.Caller, snapshot *hosting.Draft, machine int64, f *hosting.MachineForm,
) (domain.Receipt, error) {
	read := a.Service.system().Hosting()
	taken, err := read.Resource(ctx, snapshot.Ref())
	if err != nil {
		return domain.Receipt{}, err
	}
	if taken.SyncStatus != "synced" {
		return domain.Receipt{}, &domain.Error{Code: domain.Conflict, Reason: "not_taken", Message: "The snapshot is not taken yet."}
	}
	whole, _ := snapshot.Kind.Parent()
	row, err := read.Resource(ctx, hosting.Ref{Kind: whole.Kind, ID: machine})
	if err != nil {
		return domain.Receipt{}, err
	}
	d, err := row.Draft()
	if err != nil {
		return domain.Receipt{}, err
	}
	if m, is := d.Spec.(*hosting.Machine); is {
		m.Snapshot = hosting.SnapshotName(snapshot.ID)
	}
	return a.Act(ctx, cause, by, d, f)
}

// templateOf is what the node of a machine makes its disk of; "": what the system is called.
// A system that the node has not is refused.
func (a Machines) templateOf(ctx context.Context, m *hosting.Machine) (string, error) {
	if m.Node == "" {
		return "", nil
	}
	kind, _ := hosting.KindNamed(hosting.NodeKind)
	found, err := a.Service.system().Hosting().OfKind(ctx, kind, projections.Listing{
		Limit: 1, Filters: []projections.Filter{{Field: kind.Called, Op: "=", Value: m.Node}},
	})
	if err != nil || len(found.Rows) == 0 {
		return m.Template, err
	}
	return nodeTemplate(found.Rows[0], m)
}

// nodeTemplate is the template of a machine's system at its node. A node without a table takes
// systems for templates.
func nodeTemplate(row projections.Resource, m *hosting.Machine) (string, error) {
	var node hosting.Node
	if err := row.Load(&node); err != nil {
		return "", err
	}
	if template := node.Template(m.OS); template != "" || len(node.Templates) == 0 {
		return template, nil
	}
	return "", domain.RefuseField("os", field.NotAChoice(m.OS))
}
