package projections

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/compute"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

func TestARebuiltTableIsTheLiveOne(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for user := int64(901); user <= 902; user++ {
		c := open(user, fmt.Sprintf("operator%d@example.com", user))
		c.SubjectID, c.Superuser = uuid.New(), true
		p.do(t, c)
	}
	p.do(t, account.RevokeSuperuser{User: 901, At: noon}) // which chance does too seldom
	h := &history{panel: p, chance: seeded(t)}
	live, untold := map[string]string{}, []string{"at first all"}
	for rounds := 0; len(untold) > 0; rounds++ {
		if rounds == 10 {
			t.Fatalf("the history says nothing about %v", untold)
		}
		h.write(t, 750)
		untold = nil
		p.eachTable(func(table string) {
			live[table] = contents(t, p.owner, table)
			neverHasRows := []string{"no_place", "over_quota", "cname_in_company", "webhook_crowd"}
			if live[table] == "" && !slices.Contains(neverHasRows, table) {
				untold = append(untold, table)
			}
		})
	}
	h.ordersAgree(t)
	h.placesAgree(t)
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	p.eachTable(func(table string) {
		if rebuilt := contents(t, p.owner, table); rebuilt != live[table] {
			t.Errorf("%s, live:\n%s\nrebuilt:\n%s", table, live[table], rebuilt)
		}
	})
}

// ordersAgree holds every row against what the order's own history says.
func (h *history) ordersAgree(t *testing.T) {
	t.Helper()
	for _, c := range h.orders {
		o, _, err := eventstore.Fold(t.Context(), h.Store, order.Decider, order.Stream(c.ID))
		if err != nil {
			t.Fatal(err)
		}
		row, err := h.For(System).Orders().Order(t.Context(), c.ID)
		if domain.CodeOf(err) == domain.NotFound && o.Status == "" {
			continue // it was refused
		}
		if err != nil || row.Status != o.Status || !slices.Equal(row.Holds, o.Holds) ||
			row.CancelRequested != o.CancelRequested || row.PaymentID != cmp.Or(o.Confirmed, row.PaymentID) {
			t.Errorf("%s: the row says %s %v, the history %s %v (%v)", c.ID, row.Status, row.Holds, o.Status, o.Holds, err)
		}
		if lost := o.Returned(o.Confirmed); row.Refunded != lost && o.Confirmed != "" {
			t.Errorf("%s: the row says that %d went back, the history %d", c.ID, row.Refunded, lost)
		}
	}
}

// placesAgree holds every place against the order's own history, and each node against what
// may be sold there. That no two machines have an address is a unique index.
func (h *history) placesAgree(t *testing.T) {
	t.Helper()
	for _, c := range h.orders {
		p, has, err := h.For(System).Hosting().PlaceOf(t.Context(), c.ID)
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := eventstore.Fold(t.Context(), h.Store, order.Decider, order.Stream(c.ID))
		if size := (compute.Size{Cores: p.Cores, MemoryMB: p.MemoryMB, DiskGB: p.DiskGB}); err != nil || has && *o.Place != size {
			t.Errorf("%s: the row has %v, the history %v (%v)", c.ID, size, o.Place, err)
		}
		// A machine that was requested may have gone.
		requested := h.count(t, `select count(*) from resources where requested_for = $1`, "order:"+c.ID.String()) > 0
		unpaid := o.Status == order.StatusPending || o.Status == order.StatusPaymentProcessing
		if unpaid && !requested && has != (o.Place != nil) {
			t.Errorf("%s is %s, and its place is there: %t", c.ID, o.Status, has)
		}
	}
	over := h.count(t, `select count(*) from (select node from machine_places group by node
		having sum(cores) > 12 or sum(memory_mb) > 12288 or sum(disk_gb) > 120) overfull`)
	if homeless := h.count(t, `select count(*) from machine_places p where not exists (select from resources r
		where r.kind = 'node' and r.called = p.node and r.present)`); over+homeless > 0 {
		t.Errorf("%d nodes have more than may be sold, %d places have no node", over, homeless)
	}
}

func (p *panel) eachTable(do func(table string)) {
	for _, projection := range All {
		for _, table := range projection.names {
			do(table)
		}
	}
}
