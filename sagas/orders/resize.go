package orders

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A virtual server that gets another plan stays on its node. What it needs more is reserved
// in the append that records the change, and what it does not need is freed when the change
// counts or is taken back (docs/machines-stock.md, "Changing the plan").

// sizeFields are what a plan grants to a machine.
var sizeFields = strings.Fields("cores memory_mb disk_gb traffic_tb")

// machineGrants are the fields of a machine's record that a plan sets.
func machineGrants(v *order.VPS) field.Values {
	m := hosting.Machine{Cores: v.Cores, MemoryMB: v.MemoryMB, DiskGB: v.DiskGB, TrafficTB: v.TrafficTB}
	return m.Fields().Only(sizeFields...).Values()
}

// grantsMachine tells whether a plan grants the size of a machine.
func grantsMachine(grants field.Values) bool { return len(grants[sizeFields[0]]) > 0 }

// granted is a machine with what a plan grants.
func granted(m hosting.Machine, grants field.Values) (hosting.Machine, error) {
	err := m.Fields().Load(grants)
	return m, err
}

func sizeOf(m hosting.Machine) compute.Size {
	return compute.Size{Cores: m.Cores, MemoryMB: m.MemoryMB, DiskGB: m.DiskGB}
}

// larger is what two sizes need together, of which a machine has one after the other.
func larger(a, b compute.Size) compute.Size {
	return compute.Size{Cores: max(a.Cores, b.Cores), MemoryMB: max(a.MemoryMB, b.MemoryMB), DiskGB: max(a.DiskGB, b.DiskGB)}
}

// Resize is the command that reserves what the machine of an order needs with another plan;
// nil: nothing is to be reserved. A smaller disk is refused, and so is a size for which the
// node has no room.
func (p *PlanChanges) Resize(ctx context.Context, id uuid.UUID, grants field.Values) (domain.Command, error) {
	_, m, is, err := p.machineOf(ctx, id)
	if err != nil || !is || !grantsMachine(grants) {
		return nil, err
	}
	to, err := granted(m, grants)
	if err != nil {
		return nil, err
	}
	if to.DiskGB < m.DiskGB {
		return nil, domain.RefuseField("plan", fmt.Sprintf("The disk of a virtual server cannot shrink: it has %d GB.", m.DiskGB))
	}
	scope := p.deps.Tables.For(projections.System)
	place, has, err := scope.Hosting().PlaceOf(ctx, id)
	if err != nil || !has {
		return nil, err
	}
	size := larger(sizeOf(m), sizeOf(to))
	all, err := scope.Hosting().Stock(ctx, p.deps.Runner.Now())
	if err != nil {
		return nil, err
	}
	now := compute.Size{Cores: place.Cores, MemoryMB: place.MemoryMB, DiskGB: place.DiskGB}
	if size.Exceeds(now) && !all.HasRoom(place.Node, size.Less(now)) {
		return nil, NoRoomToGrow
	}
	return order.ResizePlace{ID: id, Size: size, At: p.deps.Runner.Now()}, nil
}

// NoRoomToGrow is the refusal of a plan for which the node of a machine has no room.
var NoRoomToGrow error = &domain.Error{ //nolint:errname // it is a refusal of the API
	Code: domain.Invalid, Field: "plan", Reason: "sold_out", Message: "The node of the virtual server has no room for this size.",
}

// machineOf is the machine of an order; false: it has none.
func (p *PlanChanges) machineOf(ctx context.Context, id uuid.UUID) (row projections.Resource, m hosting.Machine, is bool, err error) {
	rows, err := p.deps.Tables.For(projections.System).Hosting().ResourcesOfOrder(ctx, id)
	for _, r := range rows {
		if kind, _ := hosting.KindNamed(r.Kind); kind.Backend == hosting.Compute && r.Status != hosting.Gone {
			return r, m, true, r.Load(&m)
		}
	}
	return row, m, false, err
}

// changeMachine asks for the machine as the plan of its order grants it.
func (p *PlanChanges) changeMachine(ctx context.Context, in *ChangePlanInput) (sagas.Work, error) {
	row, m, is, err := p.machineOf(ctx, in.Order)
	if err != nil || !is {
		return sagas.Work{}, err
	}
	to, err := granted(m, in.Grants)
	if err != nil {
		return sagas.Work{}, err
	}
	commands := []domain.Command{order.ResizePlace{ID: in.Order, Size: sizeOf(to), At: p.deps.Runner.Now()}}
	if change := differing(row, in.Grants); len(change) > 0 {
		commands = append(commands, hosting.Change{Ref: row.Ref(), Spec: change})
	}
	return sagas.Work{Commands: commands}, nil
}

// release frees what was reserved for a change that is taken back.
func (p *PlanChanges) release(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	_, m, is, err := p.machineOf(ctx, id)
	if err != nil || !is {
		return err
	}
	s, _, err := eventstore.Fold(ctx, p.deps.Store, billing.Subscriptions, r.Stream)
	if err != nil {
		return err
	}
	size := sizeOf(m)
	if s.Change != nil && grantsMachine(s.Change.Grants) {
		to, err := granted(m, s.Change.Grants)
		if err != nil {
			return err
		}
		size = larger(size, sizeOf(to))
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("resize")), Actor: "system:reactions"}
	_, err = p.deps.Store.Execute(ctx, cause, order.ResizePlace{ID: id, Size: size, At: p.deps.Runner.Now()})
	return err
}
