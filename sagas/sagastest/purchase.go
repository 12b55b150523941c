package sagastest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// MustParse is the number of an order.
func MustParse(id fmt.Stringer) uuid.UUID { return uuid.MustParse(id.String()) }

// GivesBack gives back what the order has asked for, and tells.
func GivesBack(w *World, id uuid.UUID) {
	w.T.Helper()
	for _, a := range w.Order(id).Open() {
		_, err := w.Pay.Refund(w.T.Context(), order.RefundCall{
			Order: id, Session: SessionOf(id), Payment: a.Payment, Reference: a.Reference(id), Key: a.Reference(id),
			Minor: a.Minor, Currency: a.Currency,
		})
		w.Must(err)
	}
	w.Must(w.Payments.Hint(w.T.Context(), id, "refund"))
}

// GoesOn ends what [World.Pauses] has begun.
func GoesOn(w *World) {
	w.T.Helper()
	_, err := w.Pool.Exec(w.T.Context(), `update saga_queue set paused = false`)
	w.Must(err)
}

// StandsAt waits until the setting up of an order has come to a step.
func StandsAt(w *World, id uuid.UUID, step string) {
	w.T.Helper()
	w.Eventually("it stands at "+step, func() bool { run := w.Provision(id); return run.Key != "" && run.At().Name == step })
}

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

// Untouched checks that nothing of an order is left anywhere (V3).
func Untouched(w *World) {
	w.T.Helper()
	w.Equal("objects left outside", len(w.Engine.All())+len(w.Compute.All()), 0)
	w.Equal("effects left", w.Count(`select count(*) from effect where step in ('tenant.engine', 'site', 'vm')
		and state not in ('undone', 'absent')`), 0)
	w.Equal("claims left", w.Count(`select count(*) from external_claim`), 0)
	w.Equal("resources left", w.Count(`select count(*) from resources where status <> 'gone'`), 0)
}

// Refunded waits until all payments of an order are refunded.
func (w *World) Refunded(id fmt.Stringer) {
	w.T.Helper()
	o := MustParse(id)
	w.Eventually("the refund is asked for", func() bool { return len(w.Order(o).Asked) > 0 })
	GivesBack(w, o)
	w.Becomes(o, order.StatusRefunded)
}

// OffersItsPlan puts the plan of all orders on offer, at their price.
func OffersItsPlan(w *World) {
	w.T.Helper()
	var p storefront.Plan
	_, err := p.Fields().DecodeJSON(
		[]byte(`{"name":"Basic","slug":"basic","price":"12.10","currency":"EUR","resource_type":"hosting"}`),
		field.Create,
	)
	w.Must(err)
	_, err = w.Store.Execute(w.T.Context(), Operator, storefront.OfferPlan{Plan: 1, Spec: p.Fields().Values(), At: w.Runner.Now()})
	w.Must(err)
}

// Reference is what a refund is found by at the provider.
func Reference(id uuid.UUID, n int) string { return fmt.Sprintf("order/%s/refund/%d", id, n) }

// Back asks for a refund: of all, if the amount is empty.
func (w *World) Back(id uuid.UUID, amount string) error {
	w.T.Helper()
	if amount == "" {
		return w.Payments.Refund(w.T.Context(), Operator, id, nil, "goodwill")
	}
	exact := decimal.RequireFromString(amount)
	return w.Payments.Refund(w.T.Context(), Operator, id, &exact, "goodwill")
}

// Balance checks how much of an order's money we still have.
func Balance(w *World, id uuid.UUID, net int64) {
	w.T.Helper()
	w.Equal("net", w.Order(id).Net()["EUR"], net)
}
