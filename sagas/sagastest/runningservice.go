package sagastest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// A Purchase is a service that was bought, with a record of the customer's own in its tenant.
type Purchase struct {
	*Household
	ID    uuid.UUID
	Clock *TestClock
	Own   hosting.Ref
}

// NewPurchase buys a service and waits until it runs.
func NewPurchase(t *testing.T, kind string, change ...func(*assembly.Options)) Purchase {
	t.Helper()
	clock := &TestClock{At: time.Now()}
	h := &Household{World: NewWorld(t, append(change, ByHand(clock.Now))...).Goes()}
	o := OrderForm{Kind: kind}
	if kind == "hosting" {
		o.Domain = "bought.example.com"
	}
	b := Purchase{Household: h, ID: h.Buy(o), Clock: clock}
	h.Becomes(b.ID, order.StatusActive)
	h.Tenant = h.Provision(b.ID).Job.Tenant
	if kind == "hosting" {
		own := h.Ask(h.Draw("site"), Site("own.example.com"))
		h.Carry(own)
		h.Stands(own.Ref, hosting.Running)
		b.Own = own.Ref
	}
	return b
}

// Off waits until nothing of the service runs.
func (b Purchase) Off() { b.runs(false) }

// On waits until all of the service runs.
func (b Purchase) On() { b.runs(true) }

func (b Purchase) runs(want bool) {
	b.T.Helper()
	job := b.Provision(b.ID).Job
	if job.VM != 0 {
		b.Powered(hosting.Ref{Kind: "vm", ID: job.VM}, map[bool]string{true: "running", false: "stopped"}[want])
		return
	}
	b.Eventually(fmt.Sprintf("its sites run: %t", want), func() bool {
		all := b.Engine.All()
		for _, name := range []string{"site/bought.example.com", "site/own.example.com"} {
			if Value(all[name], "is_active") != fmt.Sprint(want) {
				return false
			}
		}
		return b.Count(`select count(*) from resources where sync_status <> 'synced'`) == 0
	})
}

// Removed waits until nothing of the service is left.
func (b Purchase) Removed() {
	b.T.Helper()
	b.Eventually("its run is done", func() bool { return b.RunOf("deprovision:"+b.ID.String()).Status == sagas.StatusDone })
	b.Quiet()
	Untouched(b.World)
}
