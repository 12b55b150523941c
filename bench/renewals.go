package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/documents"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
)

// renewals measures a night in which many subscriptions come due at once, a night in which
// the saved cards of their customers are charged, and the list of invoices of one tenant
// among few and among many.
func (r *run) renewals(ctx context.Context) error {
	var bank *test.Provider
	var address string
	p, err := r.panel(ctx, "bench_renewals", func(o *assembly.Options) {
		o.PublicURL = func() string { return "http://" + address }
		bank = test.New(
			o.Store.Pool(),
			test.Options{PublicURL: o.PublicURL, Secret: []byte(rand.Text()), Now: o.Store.Clock().Now, Log: o.Log},
		)
		o.Payments, o.Documents, o.Offers = map[string]order.Provider{"test": bank}, written, order.Offers{
			{Method: paidAt, Configured: true},
		}
	})
	if err != nil {
		return err
	}
	defer p.close()
	if err := clock.Install(ctx, p.owner); err != nil {
		return err
	}
	if address, err = listen(ctx, http.HandlerFunc(p.receive)); err != nil {
		return err
	}
	due, sizes := 10_000, []int64{1_000, 1_000_000}
	if r.Smoke {
		due, sizes = 50, []int64{100, 1_000}
	}
	ids, err := p.subscribe(ctx, due)
	if err != nil {
		return err
	}
	if err := nights(ctx, r, p, bank, due); err != nil {
		return err
	}
	return invoiceLists(ctx, r, p, ids[0], int64(due), sizes)
}

// receive takes the provider's webhooks, as the route of the program does.
func (p *panel) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = p.sagas.Payments.Receive(r.Context(), "test", body, r.Header)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

// nights lets workers issue invoices, and charge cards for them when these are due.
func nights(ctx context.Context, r *run, p *panel, bank *test.Provider, due int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := p.work(ctx)
	var webhooks sync.WaitGroup
	webhooks.Go(func() { _ = bank.Run(ctx) })
	defer func() { cancel(); stop(); webhooks.Wait() }()

	start := clock.Now()
	err := p.left(ctx, `select count(*) from (select from subscriptions where next_at <= business_now() limit $1) due`, due)
	invoiced := clock.Since(start)
	if err == nil {
		err = p.left(ctx, `select count(*) from invoices where documented_at is null`)
	}
	stored := clock.Since(start)
	if err == nil {
		err = p.store.Clock().Advance(ctx, billing.UsualTerms.Lead+time.Minute)
	}
	start = clock.Now()
	if err == nil {
		err = p.left(ctx, `select count(*) from invoices where status = 'open'`)
	}
	charged := clock.Since(start)
	if err != nil {
		return err
	}
	report := func(what string, took time.Duration, bar float64) {
		r.report(
			Result{Section: "renewals", Name: fmt.Sprintf("%d %s", due, what), Value: took.Minutes(), Unit: "min", Bar: bar, AtMost: true},
		)
	}
	report("subscriptions due at once: all invoiced", invoiced, 0)
	report("invoices due at once: all cards charged, all renewed", charged, 0)
	report("services renewed, from the deadline to the next period", invoiced+charged, 10)
	report("invoices: the last document is stored", stored, 30)
	r.report(Result{Section: "renewals", Name: "services renewed", Value: float64(due) / (invoiced + charged).Seconds(), Unit: "/s"})
	return nil
}

// subscribe starts subscriptions whose next invoice is due, each with an order, a first
// invoice and a card that the provider keeps.
func (p *panel) subscribe(ctx context.Context, n int) ([]uuid.UUID, error) {
	ids := make([]uuid.UUID, n)
	at := clock.Now().UTC().AddDate(0, -1, 3)
	var next atomic.Int64
	_, err := together(ctx, 32, time.Hour, func(ctx context.Context, _, _ int) error {
		i := int(next.Add(1)) - 1
		if i >= n {
			return errEnough
		}
		o := p.place(i)
		ids[i] = o.ID
		card := billing.KeptMethod{
			SubjectID: o.Subject, Order: o.ID, Provider: "test", Customer: "cus_bench", Token: "pm_" + o.ID.String(),
			Kind: "card", Brand: "visa", Last4: "4242", Expires: "2099-12",
		}
		_, err := p.store.Execute(ctx, operator, o,
			billing.Subscribe{
				Order: o.ID, Tenant: int64(i + 1), User: 1, Plan: 1, PlanName: "Starter", BillingPeriod: "monthly",
				Price: o.Price, Currency: "EUR", At: at, Terms: billing.UsualTerms,
			},
			billing.Issue{
				Order: o.ID, Tenant: int64(i + 1), SubjectID: o.Subject, Name: "Ana Ruiz",
				Lines: []billing.Line{{Text: "Starter", Total: o.Price}}, Total: o.Price, Subtotal: o.Price,
				Tax: decimal.Zero, Currency: "EUR", At: at,
			},
			billing.SaveMethod{ID: o.ID, Tenant: int64(i + 1), Kept: card, At: at},
			billing.ChooseMethod{Order: o.ID, Method: o.ID, At: at, Terms: billing.UsualTerms},
		)
		return err
	})
	if enough(err) == nil { // the documents of last month are there
		_, err = p.owner.Exec(ctx, `insert into test_payments.cards (id, customer, last4, does) select 'pm_' || id,
			'cus_bench', '4242', 'succeed' from orders`)
		if err == nil {
			_, err = p.owner.Exec(ctx, `update invoices set documented_at = created_at`)
		}
	}
	return ids, enough(err)
}

// written are the forms of documents as the program writes them.
var written = invoicing.Writers{HTML: documents.HTML, PDF: documents.PDF}

// left waits until nothing is left of what a query counts.
func (p *panel) left(ctx context.Context, query string, args ...any) error {
	for {
		var left int
		err := p.owner.QueryRow(ctx, query, args...).Scan(&left)
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// invoiceLists measures the first page of a tenant's invoices, in tables of two sizes.
func invoiceLists(ctx context.Context, r *run, p *panel, of uuid.UUID, known int64, sizes []int64) error {
	var usual float64
	scope := p.tables.For(projections.Caller{User: 1, Tenant: 1})
	for _, n := range sizes {
		if err := p.copyOrder(ctx, of, known+1, known+n); err != nil {
			return fmt.Errorf("copy an invoice: %w", err)
		}
		known += n
		each, err := r.median(func() (float64, error) {
			l, err := together(ctx, 1, r.duration, func(ctx context.Context, _, _ int) error {
				found, err := scope.Billing().Invoices(ctx, projections.Listing{Limit: 20})
				if err == nil && len(found.Rows) == 0 {
					err = fmt.Errorf("the tenant has no invoice")
				}
				return err
			})
			return milliseconds(l.at(0.5)), err
		})
		if err != nil {
			return err
		}
		line := Result{Section: "renewals", Name: fmt.Sprintf("a tenant's invoices, among %d more", n), Value: each, Unit: "ms"}
		if usual > 0 {
			line.Ratio, line.Peer, line.Bar, line.AtMost = each/usual, "among few", 1.5, true
		}
		usual = each
		r.report(line)
	}
	return nil
}
