package projections

import (
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// BenchmarkRebuildOrders builds the largest table anew from 60,000 facts.
func BenchmarkRebuildOrders(b *testing.B) {
	p := openPanel(b)
	facts := p.sold(b, 10_000)
	set, err := All.named("orders")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := set.rebuild(b.Context(), p.owner, p.Store, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(facts)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

// BenchmarkPrepareAllTables builds all tables anew in one pass.
func BenchmarkPrepareAllTables(b *testing.B) {
	p := openPanel(b)
	facts := p.sold(b, 10_000)
	for b.Loop() {
		if err := All.rebuild(b.Context(), p.owner, p.Store, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(facts)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

// sold fills the log with orders from form to service and returns how many
// facts that makes.
func (p *panel) sold(b *testing.B, orders int) int {
	b.Helper()
	history := func(c order.Place) []domain.Event {
		paid := order.Seen{Session: session(c.ID), ID: c.ID.String(), State: order.StatePaid, Minor: 2870, Currency: "EUR", At: noon}
		return []domain.Event{
			order.Placed{
				Order: c.ID, Number: c.ID.String(), SubjectID: c.ID, Plan: c.Plan, BillingPeriod: c.Period, Price: c.Price, PeriodPrice: c.Price,
				TaxRate: c.TaxRate, Total: c.Price, Subtotal: c.Price, Currency: "EUR", Provider: "test", Language: "es", Owner: 7, At: noon,
			},
			order.SessionOpened{Session: session(c.ID), URL: "https://example.com/pay", ExpiresAt: noon.Add(time.Hour), At: noon},
			order.PaymentConfirmed{Payment: paid, At: noon},
			order.ProvisioningStarted{At: noon},
			order.Activated{At: noon},
			order.WelcomeMailSent{At: noon},
		}
	}
	var writers sync.WaitGroup
	for range 64 {
		writers.Go(func() {
			for range orders / 64 {
				c := p.place("")
				if _, err := p.Append(b.Context(), domain.Cause{}, order.Stream(c.ID), 0, nil, history(c)...); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	return orders / 64 * 64 * len(history(order.Place{}))
}
