package orders_test

import (
	"fmt"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A program of a later version goes on with the effects of an earlier one: the ledger has
// a print of the request, which has to be the same.
func TestTheRequestsOfAnOrdersEffectsStayTheSame(t *testing.T) { // G-12
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	site, machine := w.Buy(sagastest.OrderForm{Domain: "same.example.com"}), w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(site, order.StatusActive)
	w.Becomes(machine, order.StatusActive)
	job := w.Provision(site).Job
	for key, request := range map[string]string{
		sagas.EffectKey(site, "tenant.engine"): fmt.Sprintf(
			`{"Kind":"tenant","ID":0,"Owner":0,"Name":"t%d","Ref":"t%[1]d","Values":null,"Observed":null,"Applied":false}`, job.Tenant),
		sagas.EffectKey(site, "site"): fmt.Sprintf(
			`{"Kind":"site","ID":0,"Owner":%d,"Name":"same.example.com","Ref":"","Values":null,"Observed":null,"Applied":false}`,
			job.Client),
		sagas.EffectKey(machine, "vm"): fmt.Sprintf(
			`{"External":"","Name":"vm%d","Tag":%q,"Cores":2,"MemoryMB":2048,"DiskGB":40,"TrafficTB":2,`+
				`"OS":"debian-12","State":"","Address":""}`,
			w.Provision(machine).Job.VM, machine),
	} {
		prints, _ := w.Store.Keys().Prints("effect request", []byte(request))
		w.Equal(key, w.Count(`select count(*) from effect where key = $1 and request_mac = $2`, key, prints[0]), 1)
	}
}

// The engine gets the limits of the package with the client, as with every change of it.
func TestTheClientOfAnOrderHasTheLimitsOfItsPackage(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	number := w.Draw("package")
	small := hosting.Package{Name: "Small", Slug: "small", Limits: hosting.NoLimits().With("sites", 3), SSL: true, IsActive: true}
	w.Does(hosting.Request{Ref: hosting.Ref{Kind: "package", ID: number}, Spec: small.Fields().Values()})
	id := w.Buy(sagastest.OrderForm{Package: &number})
	w.Becomes(id, order.StatusActive)
	client := w.Has("tenant", hosting.CustomerNumber(w.Provision(id).Job.Tenant))
	w.Equal("sites", sagastest.Value(client, "max_sites"), "3")
	w.Equal("shell users", sagastest.Value(client, "max_shell_users"), "0")
}
