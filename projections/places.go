package projections

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/hosting/stock"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// places is what machines have of nodes and address pools, from the order on. Nodes never
// have more than may be sold there, and an address has one machine at most: the database
// decides in the append that reserves a place (docs/machines-stock.md).
var places = New("places", `
	create table machine_places (
		order_id  uuid   primary key,
		node      text   not null,
		cores     bigint not null,
		memory_mb bigint not null,
		disk_gb   bigint not null,
		vm        bigint,          -- number of the machine; null: none is requested yet
		placement jsonb  not null,
		since     timestamptz not null
	);
	create index machine_places_node on machine_places (node) include (cores, memory_mb, disk_gb);
	create index machine_places_vm on machine_places (vm) where vm is not null;
	create table machine_addresses (
		order_id   uuid not null,
		block      text not null, -- "192.0.2.7/32"
		segment    text not null, -- bridge and VLAN
		pool       text not null,
		vm         bigint,
		since      timestamptz not null,
		free_since timestamptz,   -- null: it is the machine's
		primary key (order_id, block)
	);
	create unique index machine_addresses_held on machine_addresses (segment, block) where free_since is null;
	create index machine_addresses_vm on machine_addresses (vm) where vm is not null;
	create index machine_addresses_pool on machine_addresses (pool) where free_since is null;
	create table no_place (why text not null, constraint no_room check (why <> 'room'),
		constraint node_in_use check (why <> 'node'), constraint pool_in_use check (why <> 'pool'))`,

	On(func(at eventstore.RecordedEvent, e order.Placed) Change { return reserved(at, e.Placement) }),
	OnEach(func(at eventstore.RecordedEvent, e order.Placed) []Change { return addressed(at, e.Placement) }).
		Unique("machine_addresses_held", ErrPlaceTaken),
	Rule(noRoom, func(_ eventstore.RecordedEvent, e order.Placed) []any { return nodeOf(e.Placement) }).Unique("no_room", ErrPlaceTaken),
	On(func(at eventstore.RecordedEvent, e order.Reopened) Change { return reserved(at, e.Placement) }),
	OnEach(func(at eventstore.RecordedEvent, e order.Reopened) []Change { return addressed(at, e.Placement) }).
		Unique("machine_addresses_held", ErrPlaceTaken),
	Rule(noRoom, func(_ eventstore.RecordedEvent, e order.Reopened) []any { return nodeOf(e.Placement) }).Unique("no_room", ErrPlaceTaken),
	On(func(at eventstore.RecordedEvent, e order.PlaceResized) Change {
		return update("machine_places", ofOrder(at), Row{{"cores", e.Cores}, {"memory_mb", e.MemoryMB}, {"disk_gb", e.DiskGB}})
	}),
	Rule(noRoomToGrow, func(at eventstore.RecordedEvent, e order.PlaceResized) []any {
		if !e.Grows {
			return nil
		}
		return []any{at.Stream.ID}
	}).
		Unique("no_room", ErrPlaceTaken),

	// A machine takes the place over from its order, and its end frees it.
	On(machineOf),
	On(func(at eventstore.RecordedEvent, _ hosting.Removed) Change {
		if at.Stream.Category != machineKind.Name {
			return Change{}
		}
		rests := update("machine_addresses", Row{{"vm", at.Stream.ID}}, Row{{"free_since", now}}).provided(missing(col("free_since")))
		return remove("machine_places", Row{{"vm", at.Stream.ID}}).with(rests)
	}),
	On(func(at eventstore.RecordedEvent, e order.Cancelled) Change { return freed(at, e) }),
	On(func(at eventstore.RecordedEvent, e order.CompensationCompleted) Change { return freed(at, e) }),
	On(func(at eventstore.RecordedEvent, e order.RefundCompleted) Change { return freed(at, e) }),
	On(func(at eventstore.RecordedEvent, e order.DisputeClosed) Change { return freed(at, e) }),

	// What machines have stays.
	Rule(inUse("node", "machine_places p", "p.node", hosting.NodeKind), leavesAs(hosting.NodeKind)).
		Unique("node_in_use", errInUse(hosting.NodeKind)),
	Rule(inUse("pool", "machine_addresses p", "p.free_since is null and p.pool", hosting.PoolKind), leavesAs(hosting.PoolKind)).
		Unique("pool_in_use", errInUse(hosting.PoolKind)),
).
	LooksBy("machine_places_vm", "machine_addresses_vm").
	ReadBy("machine_places", operators).
	ReadBy("machine_addresses", operators)

// ErrPlaceTaken means that another order was faster: the place is to be chosen anew.
var ErrPlaceTaken error = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "place_taken"}

// machineKind is the kind of machines.
var machineKind = func() hosting.Kind {
	for _, kind := range hosting.Kinds {
		if kind.Backend == hosting.Compute {
			return kind
		}
	}
	panic("projections: no kind has a hypervisor")
}()

func ofOrder(at eventstore.RecordedEvent) Row { return Row{{"order_id", at.Stream.ID}} }

func reserved(at eventstore.RecordedEvent, p *compute.Placement) Change {
	if p == nil {
		return Change{}
	}
	return insert("machine_places", append(ofOrder(at), Row{
		{"node", p.Node},
		{"cores", p.Cores},
		{"memory_mb", p.MemoryMB},
		{"disk_gb", p.DiskGB},
		{"placement", p},
		{"since", now},
	}...))
}

func addressed(at eventstore.RecordedEvent, p *compute.Placement) (all []Change) {
	if p == nil {
		return nil
	}
	for _, a := range p.Addresses {
		all = append(all, insert("machine_addresses", append(ofOrder(at), Row{
			{"block", a.Block.String()}, {"segment", p.Segment()}, {"pool", a.Pool}, {"since", now},
		}...)))
	}
	return all
}

func nodeOf(p *compute.Placement) []any {
	if p == nil {
		return nil
	}
	return []any{p.Node}
}

// machineOf notes the number of the machine that an order requests.
func machineOf(at eventstore.RecordedEvent, e hosting.Requested) Change {
	of, err := uuid.Parse(strings.TrimPrefix(e.For, "order:"))
	if err != nil || at.Stream.Category != machineKind.Name {
		return Change{}
	}
	key, number := Row{{"order_id", of}}, Row{{"vm", at.Stream.ID}}
	return update("machine_places", key, number).with(update("machine_addresses", key, number).provided(missing(col("free_since"))))
}

// freed frees the place of a machine that was never made, or was taken back. Addresses that
// no machine had need no rest.
func freed(at eventstore.RecordedEvent, e domain.Event) Change {
	if !order.FreesPlace(e) {
		return Change{}
	}
	addresses := remove("machine_addresses", ofOrder(at)).provided(missing(col("free_since")))
	return remove("machine_places", ofOrder(at)).with(addresses)
}

// room is the node with a name, if what is reserved there fits.
var room = `select from resources n cross join lateral (
		select coalesce(sum(p.cores), 0) as cores, coalesce(sum(p.memory_mb), 0) as memory_mb, coalesce(sum(p.disk_gb), 0) as disk_gb
		from machine_places p where p.node = n.called
	) used where n.kind = '` + hosting.NodeKind + `' and n.called = %s and n.present and used.cores <= (n.spec ->> 'cores')::bigint
		and used.memory_mb <= (n.spec ->> 'memory_mb')::bigint and used.disk_gb <= (n.spec ->> 'disk_gb')::bigint`

var (
	noRoom       = `insert into no_place (why) select 'room' where not exists (` + fmt.Sprintf(room, "$1::text") + `)`
	noRoomToGrow = `insert into no_place (why) select 'room' from machine_places m where m.order_id = $1::uuid and not exists (` +
		fmt.Sprintf(room, "m.node") + `)`
)

// inUse breaks a condition if rows have the name of a record.
func inUse(why, rows, column, kind string) string {
	return `insert into no_place (why) select '` + why + `' where exists (select from ` + rows + ` join resources r on r.kind = '` + kind +
		`' and r.id = $1::bigint where ` + column + ` = r.spec ->> 'name')`
}

// leavesAs are the arguments of a rule about the removal of a record.
func leavesAs(kind string) func(eventstore.RecordedEvent, hosting.RemovalRequested) []any {
	return func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) []any {
		if at.Stream.Category != kind {
			return nil
		}
		return []any{at.Stream.ID}
	}
}

func errInUse(name string) error {
	kind, _ := hosting.KindNamed(name)
	return &domain.Error{Code: domain.Conflict, Reason: "in_use", Message: kind.InUse}
}

// A MachinePlace is the place of a machine.
type MachinePlace struct {
	Order     uuid.UUID `db:"order_id"`
	Node      string
	Cores     int64
	MemoryMB  int64
	DiskGB    int64
	VM        *int64
	Placement compute.Placement
	Since     time.Time
}

// PlaceOf is the place of an order's machine; false: it has none.
func (s HostingReader) PlaceOf(ctx context.Context, order uuid.UUID) (p MachinePlace, has bool, err error) {
	w := s.caller.operators()
	w.and("order_id = ?", order)
	found, err := list[MachinePlace](
		ctx, s.db, `select order_id, node, cores, memory_mb, disk_gb, vm, placement, since from machine_places`, w, "",
	)
	if err != nil || len(found) == 0 {
		return p, false, err
	}
	return found[0], true, nil
}

// used is what is reserved on a node.
type used struct {
	Node     string
	Machines int64
	Cores    int64
	MemoryMB int64
	DiskGB   int64
}

// Stock is all nodes and address pools, with what machines have of them. Addresses that
// were freed after the given moment rest. Without nodes there is no stock.
func (s HostingReader) Stock(ctx context.Context, freedAfter time.Time) (all stock.Stock, err error) {
	if all.Nodes, err = s.nodes(ctx); err != nil || len(all.Nodes) == 0 {
		return all, err
	}
	rows, err := s.ofInstallation(ctx, hosting.PoolKind)
	if err != nil || len(rows) == 0 {
		return all, err
	}
	taken, err := s.blocks(ctx, freedAfter)
	for _, row := range rows {
		var p hosting.AddressPool
		if failed := row.Load(&p); failed != nil {
			return all, failed
		}
		all.Pools = append(all.Pools, stock.Pool{AddressPool: p, Taken: taken[compute.Segment(p.Bridge, p.VLAN)]})
	}
	return all, err
}

func (s HostingReader) nodes(ctx context.Context) (all []stock.Node, err error) {
	rows, err := s.ofInstallation(ctx, hosting.NodeKind)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	sums, err := list[used](ctx, s.db, `select node, count(*) as machines, sum(cores)::bigint as cores, sum(memory_mb)::bigint as memory_mb,
		sum(disk_gb)::bigint as disk_gb from machine_places`, s.caller.operators(), ` group by node`)
	if err != nil {
		return nil, err
	}
	of := map[string]used{}
	for _, u := range sums {
		of[u.Node] = u
	}
	for _, row := range rows {
		n := stock.Node{ID: row.ID}
		if err := row.Load(&n.Node); err != nil {
			return nil, err
		}
		u := of[n.Name]
		n.Used, n.Machines = compute.Size{Cores: u.Cores, MemoryMB: u.MemoryMB, DiskGB: u.DiskGB}, u.Machines
		all = append(all, n)
	}
	return all, nil
}

// NodeNamed is a node; false: there is none of this name.
func (s HostingReader) NodeNamed(ctx context.Context, name string) (n hosting.Node, known bool, err error) {
	w := s.caller.operators()
	w.and("r.kind = ?", hosting.NodeKind)
	w.and("r.called = ?", name)
	w.conditions = append(w.conditions, present)
	found, err := list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, "")
	if err != nil || len(found) == 0 {
		return n, false, err
	}
	return n, true, found[0].Load(&n)
}

// ofInstallation are all records of a kind that belongs to the installation.
func (s HostingReader) ofInstallation(ctx context.Context, kind string) ([]Resource, error) {
	w := s.caller.operators()
	w.and("r.kind = ?", kind)
	w.conditions = append(w.conditions, present)
	return list[Resource](ctx, s.db, `select `+resourceColumns+fromResources, w, " order by r.called")
}

// blocks are those that machines have, or that rest, by segment.
func (s HostingReader) blocks(ctx context.Context, freedAfter time.Time) (map[string]map[netip.Prefix]bool, error) {
	type row struct{ Segment, Block string }
	w := s.caller.operators()
	w.and("(free_since is null or free_since > ?)", freedAfter)
	found, err := list[row](ctx, s.db, `select segment, block from machine_addresses`, w, "")
	taken := map[string]map[netip.Prefix]bool{}
	for _, r := range found {
		block, failed := netip.ParsePrefix(r.Block)
		if failed != nil {
			return nil, fmt.Errorf("read an address: %w", failed)
		}
		if taken[r.Segment] == nil {
			taken[r.Segment] = map[netip.Prefix]bool{}
		}
		taken[r.Segment][block] = true
	}
	return taken, err
}

// MachineUsage is what a machine uses, as it was read last, with the traffic of the month of
// a moment.
func MachineUsage(ctx context.Context, s HostingReader, machine int64, now time.Time) (m hosting.MachineUsage, err error) {
	w := s.caller.tenantOrAll("u.tenant")
	w.and("u.machine = ?", machine)
	m.Month = now.UTC().Format("2006-01")
	found, err := list[hosting.MachineUsage](ctx, s.db, `select u.read_at, u.cores, u.memory_mb, u.disk_mb, '`+m.Month+`' as month,
		coalesce(t.received, 0) as received, coalesce(t.sent, 0) as sent
		from machine_usage u left join machine_traffic t on t.machine = u.machine and t.month = date '`+m.Month+`-01'`, w, "")
	if err != nil || len(found) == 0 {
		return m, err
	}
	return found[0], nil
}
