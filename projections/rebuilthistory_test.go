package projections

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
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
			// which never have a row
			if live[table] == "" && table != "over_quota" && table != "cname_in_company" && table != "webhook_crowd" {
				untold = append(untold, table)
			}
		})
	}
	h.ordersAgree(t)
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

func (p *panel) eachTable(do func(table string)) {
	for _, projection := range All {
		for _, table := range projection.names {
			do(table)
		}
	}
}
