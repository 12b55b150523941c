package projections

import (
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// BenchmarkRebuildOrders builds the largest table anew from 60,000 events.
func BenchmarkRebuildOrders(b *testing.B) {
	p := openPanel(b)
	facts := p.sold(b, 10_000)
	set, err := All.named("orders")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := set.rebuild(b.Context(), p.owner, p.Reader(), nil); err != nil {
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
		if err := All.rebuild(b.Context(), p.owner, p.Reader(), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(facts)*float64(b.N)/b.Elapsed().Seconds(), "facts/s")
}

// sold fills the log with orders from form to service and returns how many
// events that makes.
func (p *panel) sold(t testing.TB, orders int) int {
	t.Helper()
	history := func(c order.Place) []domain.Event {
		paid := order.Seen{Session: session(c.ID), ID: c.ID.String(), State: order.StatePaid, Minor: 2870, Currency: "EUR", At: noon}
		return []domain.Event{
			order.Placed{
				Order: c.ID, Number: c.ID.String(), SubjectID: c.ID, Plan: c.Plan, BillingPeriod: c.Period,
				Price: c.Price, PeriodPrice: c.Price,
				TaxRate: c.TaxRate, Total: c.Price, Subtotal: c.Price, Currency: "EUR", Provider: "test", Language: "es",
				Owner: 7, At: noon,
			},
			order.PaymentSessionOpened{Session: session(c.ID), URL: "https://example.com/pay", ExpiresAt: noon.Add(time.Hour), At: noon},
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
				if _, err := p.Append(t.Context(), domain.Metadata{}, order.Stream(c.ID), 0, nil, history(c)...); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	return orders / 64 * 64 * len(history(order.Place{}))
}

// BenchmarkListOfAMillion reads pages of a million users as an operator, each
// with the count of all.
func BenchmarkListOfAMillion(b *testing.B) {
	p := openPanel(b)
	for _, sql := range []string{
		`insert into users (id, subject, email, name, language, is_superuser, opened_for, created_at, updated_at, version)
			select i, gen_random_uuid(), 'user' || i || '@example.com', 'Ana', 'es', false, '',
				timestamptz '2026-01-01' + i * interval '1 s', now(), 1
			from generate_series(1, 1000000) i`,
		`vacuum analyze users`,
	} {
		if _, err := p.owner.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	for name, l := range map[string]Listing{
		"first": {Limit: 20}, "middle": {Limit: 20, Offset: 500_000}, "last": {Limit: 20, Offset: LastPage},
		"searched": {Limit: 20, Search: []string{"user77777"}}, "filtered": {Limit: 20, Filters: []Filter{{"id", "in", []int64{1, 2, 3}}}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := p.For(System).Accounts().Users(b.Context(), l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
