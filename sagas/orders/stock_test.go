package orders_test

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/orders"
	"hostpanel/sagas/sagastest"
)

// stocked is a world with nodes that have room for so many machines each, and an address
// for each machine.
func stocked(t *testing.T, w *sagastest.World, machines ...int64) *sagastest.World {
	t.Helper()
	for i, n := range machines {
		id := int64(i + 1)
		w.Does(hosting.Request{Ref: hosting.Ref{Kind: hosting.NodeKind, ID: id}, Spec: (&hosting.Node{
			Name: fmt.Sprint("node", id), Cores: 1000, MemoryMB: n * 2048, DiskGB: 100_000, Weight: 100,
		}).Fields().Values()})
	}
	pools(w, "198.51.100.0/25", "2001:db8::/48")
	return w
}

func pools(w *sagastest.World, networks ...string) {
	w.T.Helper()
	for i, network := range networks {
		p := &hosting.AddressPool{Name: fmt.Sprint("pool", i+1), Network: network}
		hosting.Complete(p, hosting.Place{})
		w.Does(hosting.Request{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: int64(i + 1)}, Spec: p.Fields().Values()})
	}
}

// atOnce orders machines at the same time, as two processes do, and returns the orders that
// have a place. The others are refused as sold out.
func atOnce(w *sagastest.World, n int) (placed []uuid.UUID) {
	w.T.Helper()
	places := []*orders.Places{orders.NewPlaces(w.Tables, 0, w.Runner.Now), orders.NewPlaces(w.Tables, 0, w.Runner.Now)}
	ids, refusals := make([]uuid.UUID, n), make([]error, n)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			ids[i] = uuid.New()
			refusals[i] = w.TryPut(ids[i], sagastest.OrderForm{Kind: "vps", Places: places[i%2]})
		})
	}
	all.Wait()
	for i, err := range refusals {
		switch {
		case err == nil:
			placed = append(placed, ids[i])
		case !errors.Is(err, orders.SoldOut):
			w.T.Error(err)
		}
	}
	return placed
}

// noneTwice checks that no two machines have an address, and that no node has more machines
// than it has room for.
func noneTwice(w *sagastest.World, places int) {
	w.T.Helper()
	w.Equal("places", w.Count(`select count(*) from machine_places`), places)
	w.Equal("addresses", w.Count(`select count(distinct block) from machine_addresses where free_since is null`), 2*places)
	w.Equal("nodes with too much", w.Count(`select count(*) from resources r where r.kind = 'node'
		and (r.spec ->> 'memory_mb')::bigint < (select sum(memory_mb) from machine_places where node = r.called)`), 0)
}

// toPay opens the pages on which orders are paid.
func toPay(w *sagastest.World, ids ...uuid.UUID) {
	w.T.Helper()
	for _, id := range ids {
		_, err := w.Payments.Pages.OpenSession(w.T.Context(), id)
		w.Must(err)
	}
}

func TestTheLastFiftyPlacesMakeFiftyServers(t *testing.T) {
	t.Parallel()
	w := stocked(t, sagastest.NewWorld(t).Goes(), 30, 20)
	placed := atOnce(w, 200)
	w.Equal("orders with a place", len(placed), 50)
	noneTwice(w, 50)
	if err := w.TryPut(uuid.New(), sagastest.OrderForm{Kind: "vps"}); !errors.Is(err, orders.SoldOut) {
		t.Fatal(err)
	}
	toPay(w, placed...)
	for _, id := range placed {
		w.Paid(id)
		w.Must(w.Webhook("evt_again_"+id.String(), id)) // and the news come twice
	}
	for _, id := range placed {
		w.Becomes(id, order.StatusActive)
	}
	noneTwice(w, 50)
	w.Equal("machines", len(w.Compute.All()), 50)
}

// expires lets the time of an order to be paid pass.
func expires(w *sagastest.World, ids ...uuid.UUID) {
	w.T.Helper()
	for _, id := range ids {
		w.Pay.Put(order.Fetched{Provider: "test", Session: sagastest.SessionOf(id), Order: id, State: order.SessionExpired})
		w.Must(w.Payments.Hint(w.T.Context(), id, "test"))
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusCancelled)
	}
}

func TestLatePaymentsAreServedWhereAPlaceIsFree(t *testing.T) {
	t.Parallel()
	w := stocked(t, sagastest.NewWorld(t).Goes(), 20)
	sagastest.OffersItsPlan(w)
	late := atOnce(w, 20)
	toPay(w, late...)
	expires(w, late...)
	noneTwice(w, 0)
	others := atOnce(w, 8)
	noneTwice(w, 8)
	for _, id := range late {
		w.Paid(id)
	}
	w.Eventually("all late payments are decided", func() bool {
		return w.Count(`select count(*) from orders where status in ('active', 'refunded')`) == 20
	})
	w.Equal("served", w.Count(`select count(*) from orders where status = 'active'`), 12)
	noneTwice(w, 20)
	for _, id := range late {
		if w.Order(id).Status == order.StatusRefunded {
			sagastest.Balance(w, id, 0)
			w.Equal("why it goes back", w.Count(`select count(*) from events where stream = $1
				and name = 'order.late_payment_found' and data ->> 'refund' = '["place"]'`, order.Stream(id).String()), 1)
		}
	}
	toPay(w, others...)
	expires(w, others...)
	noneTwice(w, 12)
}

func TestTheEndOfAMachineFreesItsPlaceAndLaterItsAddress(t *testing.T) {
	t.Parallel()
	w := stocked(t, sagastest.NewWorld(t).Goes(), 1)
	first := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(first, order.StatusActive)
	had := addressOf(w, first)
	refused := w.TryPut(uuid.New(), sagastest.OrderForm{Kind: "vps"})
	if !errors.Is(refused, orders.SoldOut) {
		t.Fatal(refused)
	}
	_, err := w.Store.Execute(t.Context(), sagastest.Operator, hosting.Remove{Ref: hosting.Ref{Kind: hosting.NodeKind, ID: 1}})
	w.Equal("the refusal", fmt.Sprint(err), "The node has machines.")
	_, err = w.Store.Execute(t.Context(), sagastest.Operator, hosting.Remove{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: 1}})
	w.Equal("the refusal", fmt.Sprint(err), "Machines have addresses of the pool.")

	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, first, "asked for"))
	w.Eventually("it waits to be removed", func() bool {
		return w.Orders.EndGrace(t.Context(), sagastest.Operator, first, "asked for") == nil
	})
	w.Eventually("its place is free", func() bool { return w.Count(`select count(*) from machine_places`) == 0 })

	second := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(second, order.StatusActive)
	if addressOf(w, second) == had {
		t.Errorf("%s is given without a rest", had)
	}
	stock, err := w.Tables.For(projections.System).Hosting().Stock(t.Context(), w.Runner.Now().Add(-orders.UsualRest))
	w.Must(err)
	w.Equal("it rests", stock.Pools[0].Taken[had], true)
	stock, err = w.Tables.For(projections.System).Hosting().Stock(t.Context(), w.Runner.Now().Add(time.Minute))
	w.Must(err)
	w.Equal("it rests after that", stock.Pools[0].Taken[had], false)
}

// addressOf is the IPv4 address of an order's machine.
func addressOf(w *sagastest.World, id uuid.UUID) netip.Prefix {
	w.T.Helper()
	place, has, err := w.Tables.For(projections.System).Hosting().PlaceOf(w.T.Context(), id)
	w.Must(err)
	w.Equal("it has a place", has, true)
	return place.Placement.Addresses[0].Block
}

func TestAMachineIsMadeAtItsPlace(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Does(hosting.Request{Ref: hosting.Ref{Kind: hosting.NodeKind, ID: 1}, Spec: (&hosting.Node{
		Name: "alpha", Host: "h2", Cores: 4, MemoryMB: 4096, DiskGB: 100, Weight: 100, Templates: []string{"debian-12=d12.qcow2"},
	}).Fields().Values()})
	for i, p := range []*hosting.AddressPool{
		{Name: "four", Network: "192.0.2.0/28", Gateway: "192.0.2.1", Bridge: "br0", VLAN: 7, Excluded: []string{"192.0.2.2-192.0.2.4"}},
		{
			Name: "six", Network: "2001:db8::/48", Gateway: "fe80::1", Bridge: "br0", VLAN: 7, NameServers: []string{"2001:db8::53"},
			Nodes: []string{"alpha"},
		},
		{Name: "other", Network: "198.51.100.0/24", Nodes: []string{"beta"}},
	} {
		hosting.Complete(p, hosting.Place{})
		w.Does(hosting.Request{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: int64(i + 1)}, Spec: p.Fields().Values()})
	}
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqJCJkLWjXWrdq2xzNWPGQwy4cqzkXLrqIUwMDqQ7Gy"
	id := w.Buy(sagastest.OrderForm{Kind: "vps", Machine: order.Machine{Hostname: "web.example.com", SSHKey: key}})
	w.Becomes(id, order.StatusActive)
	var m hosting.Machine
	row := w.Resource(hosting.Ref{Kind: "vm", ID: w.Provision(id).Job.VM})
	w.Must(row.Load(&m))
	w.Equal("node, host and template", fmt.Sprint(m.Node, " ", m.Host, " ", m.Template), "alpha h2 d12.qcow2")
	w.Equal("network", fmt.Sprint(m.Bridge, m.VLAN, m.Addresses, m.Gateways, m.NameServers),
		"br07 [192.0.2.5/28 2001:db8:0:1::1/64] [192.0.2.1 fe80::1] [2001:db8::53]")
	w.Equal("what its customer wants", fmt.Sprint(m.Hostname, m.Keys), "web.example.com["+key+"]")
	w.Equal("with what its disk was made", fmt.Sprint(m.DiskHostname, m.DiskKeys), "web.example.com["+key+"]")
}
