package accounts_test

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
	"hostpanel/sagas/sagastest"
)

// A person is given all that is known of them: each event of the log in which their
// address stands, and what became of their orders. Another customer is not in it.
func TestAnExportHasAllOfAPersonAndNothingOfOthers(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	anas := w.Buy(
		sagastest.OrderForm{
			Email: "ana@example.com", Company: "Ana & Co",
			Details: buyer.Details{Address: "Gran Vía 2", Country: "ES", TaxID: "B87654321"},
		},
	)
	bens := w.Buy(sagastest.OrderForm{Email: "ben@example.com"})
	w.Becomes(anas, order.StatusActive)
	w.Becomes(bens, order.StatusActive)
	w.AllTold()
	ana, tenant := w.Provision(anas).Job.User, w.Provision(anas).Job.Tenant
	w.Asks(account.GrantMembership{User: w.Provision(bens).Job.User, Tenant: tenant, Role: account.Member, At: w.Runner.Now()})

	_, err := w.Store.Execute(
		t.Context(), domain.Metadata{Actor: "operator:" + strconv.FormatInt(ana, 10)},
		account.Deactivate{User: w.Provision(bens).Job.User, At: w.Runner.Now()},
	)
	w.Must(err)

	known, err := w.Accounts.Export(t.Context(), ana)
	w.Must(err)
	w.Equal("address", known.User.Email, "ana@example.com")
	w.Equal("tenants", len(known.Memberships), 1)
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
	for _, name := range []string{
		"account.opened", "order.placed", "order.activated", "billing.invoice_issued", "notification.raised",
		"account.deactivated",
	} {
		w.Equal(name, types[name], true)
	}
	w.Equal("events with the address", named, map[string]bool{"order.placed": true, "billing.invoice_issued": true})
	w.Must(w.Store.Reader().Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error {
		data, err := json.Marshal(e.Event)
		if strings.Contains(string(data), "ana@example.com") && !exported[e.Position] {
			t.Errorf("%s, event %d, names the person and is not exported", e.Name, e.Position)
		}
		return err
	}))
	w.Equal("webhooks with their bodies", len(known.Webhooks) > 0 && strings.Contains(string(known.Webhooks[0].Body), anas.String()), true)
}
