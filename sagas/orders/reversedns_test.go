package orders_test

import (
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

// The addresses of a machine lead back to its host name where the panel has their zones.
func TestAddressesLeadBackToTheHostName(t *testing.T) {
	t.Parallel()
	w := stocked(t, sagastest.NewWorld(t).Goes(), 3)
	owner := w.Tenant(900, 77)
	for i, origin := range []string{"51.198.in-addr.arpa.", "100.51.198.in-addr.arpa.", "0.0.8.b.d.0.1.0.0.2.ip6.arpa."} {
		z := hosting.DNSZone{Origin: origin, NSPrimary: "ns1.panel.example.", AdminEmail: "hostmaster." + origin, TTL: 3600, IsActive: true}
		w.Does(hosting.Request{Ref: hosting.Ref{Kind: "dns_zone", ID: int64(i + 1)}, Tenant: owner.ID, Spec: z.Fields().Values()})
	}
	records := func() string {
		return w.Text(`select coalesce(string_agg(concat_ws(' ', spec ->> 'zone', spec ->> 'name', spec ->> 'data'), ', '
			order by id), '') from resources where kind = 'dns_record' and status not in ('leaving', 'gone')`)
	}
	id := w.Buy(sagastest.OrderForm{Kind: "vps", Machine: order.Machine{Hostname: "web.example.com"}})
	w.Becomes(id, order.StatusActive)
	w.Eventually("there are both records, in the nearest zone each", func() bool {
		return strings.HasPrefix(records(), "2 1 web.example.com., 3 1.0.0.0.") && strings.HasSuffix(records(), ".0.0 web.example.com.")
	})
	w.Buy(sagastest.OrderForm{Kind: "vps"}) // that names no host

	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "asked for"))
	w.Eventually("it waits to be removed", func() bool {
		return w.Orders.EndGrace(t.Context(), sagastest.Operator, id, "asked for") == nil
	})
	w.Eventually("the records go with the machine", func() bool { return records() == "" })
}
