package assembly_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A person is given all that is known of them: each event of the log in which their
// address stands, and what became of their orders. Another customer is not in it.
func TestAnExportHasAllOfAPersonAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	anas := w.buy(ordering{email: "ana@example.com", company: "Ana & Co", details: buyer.Details{Address: "Gran Vía 2", Country: "ES", TaxID: "B87654321"}})
	bens := w.buy(ordering{email: "ben@example.com"})
	w.becomes(anas, order.StatusActive)
	w.becomes(bens, order.StatusActive)
	w.allTold()
	ana, tenant := w.provision(anas).Job.User, w.provision(anas).Job.Tenant
	w.asks(account.GrantMembership{User: w.provision(bens).Job.User, Tenant: tenant, Role: account.Member, At: w.Now()})

	_, err := w.store.Execute(t.Context(), domain.Metadata{Actor: "operator:" + strconv.FormatInt(ana, 10)}, account.Deactivate{User: w.provision(bens).Job.User, At: w.Now()})
	w.must(err)

	known, err := w.Accounts.Export(t.Context(), ana)
	w.must(err)
	w.equal("address", known.User.Email, "ana@example.com")
	w.equal("tenants", len(known.Memberships), 1)
	exported, types, named := map[int64]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range known.Events {
		exported[e.Position], types[e.Type] = true, true
		if strings.Contains(string(e.Data), "Gran Vía 2") && strings.Contains(string(e.Data), "B87654321") {
			named[e.Type] = true
		}
		if strings.Contains(string(e.Data), "ben@") {
			t.Errorf("%s is told of another customer: %s", e.Type, e.Data)
		}
	}
	for _, name := range []string{"account.opened", "order.placed", "order.activated", "billing.invoice_issued", "notification.raised", "account.deactivated"} {
		w.equal(name, types[name], true)
	}
	w.equal("events with the address", named, map[string]bool{"order.placed": true, "billing.invoice_issued": true})
	w.must(w.store.Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error {
		data, err := json.Marshal(e.Event)
		if strings.Contains(string(data), "ana@example.com") && !exported[e.Position] {
			t.Errorf("%s, event %d, names the person and is not exported", e.Name, e.Position)
		}
		return err
	}))
	w.equal("webhooks with their bodies", len(known.Webhooks) > 0 && strings.Contains(string(known.Webhooks[0].Body), anas.String()), true)
}
