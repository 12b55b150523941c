package bench

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/documents"
	"hostpanel/domain/billing"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
)

// renewals measures a night in which many subscriptions come due at once, and the list of
// invoices of one tenant among few and among many.
func (r *run) renewals(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_renewals", func(o *assembly.Options) { o.Documents = written })
	if err != nil {
		return err
	}
	defer p.close()
	due, sizes := 10_000, []int64{1_000, 1_000_000}
	if r.Smoke {
		due, sizes = 50, []int64{100, 1_000}
	}
	ids, err := p.subscribe(ctx, due)
	if err != nil {
		return err
	}
	start := clock.Now()
	stop := p.work(ctx)
	err = p.renewed(ctx, due)
	took := clock.Since(start)
	if err == nil {
		err = p.left(ctx, `select count(*) from invoices where documented_at is null`)
	}
	stored := clock.Since(start)
	stop()
	if err != nil {
		return err
	}
	r.report(Result{Section: "renewals", Name: fmt.Sprintf("%d subscriptions due at once: all invoiced", due), Value: took.Minutes(), Unit: "min", Bar: 10, AtMost: true})
	r.report(Result{Section: "renewals", Name: "subscriptions invoiced", Value: float64(due) / took.Seconds(), Unit: "/s"})
	r.report(Result{Section: "renewals", Name: fmt.Sprintf("%d invoices: the last document is stored", due), Value: stored.Minutes(), Unit: "min", Bar: 30, AtMost: true})
	return invoiceLists(ctx, r, p, ids[0], int64(due), sizes)
}

// subscribe starts subscriptions whose next invoice is due, each with an order and a first
// invoice.
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
		_, err := p.store.Execute(ctx, operator, o,
			billing.Subscribe{Order: o.ID, Tenant: int64(i + 1), User: 1, Plan: 1, PlanName: "Starter", BillingPeriod: "monthly", Price: o.Price, Currency: "EUR", At: at, Terms: billing.UsualTerms},
			billing.Issue{Order: o.ID, Tenant: int64(i + 1), SubjectID: o.Subject, Name: "Ana Ruiz", Lines: []billing.Line{{Text: "Starter", Total: o.Price}}, Total: o.Price, Subtotal: o.Price, Tax: decimal.Zero, Currency: "EUR", At: at},
		)
		return err
	})
	if enough(err) == nil { // the documents of last month are there
		_, err = p.owner.Exec(ctx, `update invoices set documented_at = created_at`)
	}
	return ids, enough(err)
}

// written are the forms of documents as the program writes them.
var written = invoicing.Writers{HTML: documents.HTML, PDF: documents.PDF}

// renewed waits until no subscription is due any more.
func (p *panel) renewed(ctx context.Context, n int) error {
	return p.left(ctx, `select count(*) from (select from subscriptions where next_at <= business_now() limit $1) due`, n)
}

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
				found, err := scope.Invoices(ctx, projections.Listing{Limit: 20})
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
