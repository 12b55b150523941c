package operations

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Invoices is `hostpanel invoices` (docs/invoices.md).
type Invoices struct {
	List   invoicesList   `cmd:"" help:"List invoices, newest first."`
	Totals invoicesTotals `cmd:"" help:"Add up what was billed, month by month."`
	Paid   invoicesPaid   `cmd:"" help:"Record that an open invoice was paid by other means than a payment provider."`
	Book   invoicesBook   `cmd:"" help:"Book a payment of a tenant that has arrived without a provider. What is over stays as credit."`
	Waive  invoicesWaive  `cmd:"" help:"Withdraw an open invoice. The period that it bills is free."`
}

// Subscriptions is `hostpanel subscriptions`.
type Subscriptions struct {
	List   subscriptionsList   `cmd:"" help:"List subscriptions, newest first."`
	Cancel subscriptionsCancel `cmd:"" help:"End a subscription with the period that is paid for."`
	Resume subscriptionsResume `cmd:"" help:"Take the cancellation of a subscription back."`
	Extend subscriptionsExtend `cmd:"" help:"Give the customer of an open invoice more time."`
	Change subscriptionsChange `cmd:"" help:"Change the plan or the billing period of a subscription, or tell what that would cost and do."`
}

type invoicesList struct {
	Status string `enum:"open,paid,withdrawn," default:"" placeholder:"STATUS" help:"Only these: open, paid, withdrawn."`
	Limit  int64  `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// only picks records with a value of a field; blank: all.
func only(field, value string) []projections.Filter {
	if value == "" {
		return nil
	}
	return []projections.Filter{{Field: field, Op: "=", Value: value}}
}

// Run lists invoices.
func (l invoicesList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().Invoices(
			ctx, projections.Listing{Limit: l.Limit, Filters: only("status", l.Status)},
		)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, invoiceColumns)
	})
}

var (
	invoiceColumns = field.ColumnsOf[projections.Invoice](
		"number", "status", "tenant", "total", "due_at", "payment_method", "created_at",
	)
	totalColumns        = field.ColumnsOf[projections.InvoiceTotal]("month", "money", "invoices", "total", "tax", "unpaid", "credited")
	subscriptionColumns = field.ColumnsOf[projections.Subscription](
		"order", "status", "tenant", "plan_name", "price", "period_end", "next_at",
	)
)

type invoicesTotals struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run adds up invoices.
func (l invoicesTotals) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().InvoiceTotals(ctx)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found, totalColumns)
	})
}

type invoicesPaid struct {
	Invoice   string `arg:"" help:"Number, such as INV-2026-000001."`
	Method    string `enum:"bank_transfer,cash,other" default:"bank_transfer" help:"bank_transfer, cash or other."`
	Reference string `required:"" help:"By which the payment is found in the books."`
}

// Run records a payment.
func (r invoicesPaid) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withInvoice(ctx, s, c, r.Invoice, "is paid", func(p *program.Program, i projections.Invoice) error {
		return p.Sagas.Billing.MarkPaid(ctx, sagas.ByOperator(program.AtConsole, i.OrderID), i.ID, r.Method, r.Reference)
	})
}

type invoicesWaive struct {
	Invoice string `arg:"" help:"Number, such as INV-2026-000001."`
	Reason  string `required:"" help:"Why; it stands in the log."`
}

// Run withdraws an invoice.
func (w invoicesWaive) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withInvoice(ctx, s, c, w.Invoice, "is withdrawn", func(p *program.Program, i projections.Invoice) error {
		return p.Sagas.Billing.Waive(ctx, sagas.ByOperator(program.AtConsole, i.OrderID), i.ID, w.Reason)
	})
}

// withInvoice does something with the invoice with a number, and says what became of it.
func withInvoice(
	ctx context.Context, s config.Settings, c console.Console, number, done string,
	do func(*program.Program, projections.Invoice) error,
) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().Invoices(
			ctx, projections.Listing{Limit: 1, Filters: only("number", number)},
		)
		if err != nil {
			return err
		}
		if len(found.Rows) == 0 {
			return fmt.Errorf("there is no invoice %s", number)
		}
		if err := do(p, found.Rows[0]); err != nil {
			return fmt.Errorf("invoice %s: %w", number, err)
		}
		fmt.Fprintf(c.Out, "%s %s\n", number, done)
		return nil
	})
}

type subscriptionsList struct {
	Status string `enum:"active,cancelling,past_due,suspended,ended," default:"" placeholder:"STATUS"`
	Limit  int64  `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (subscriptionsList) Abouts() map[string]string {
	return map[string]string{
		"status": "Only these: active, cancelling, past_due, suspended, ended.",
	}
}

// Run lists subscriptions.
func (l subscriptionsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().Subscriptions(
			ctx, projections.Listing{Limit: l.Limit, Filters: only("status", l.Status)},
		)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, subscriptionColumns)
	})
}

type subscriptionsCancel struct {
	Order string `arg:"" help:"Number or id of the order that started it."`
	Now   bool   `help:"At once, and not with its period."`
}

// Run cancels a subscription.
func (k subscriptionsCancel) Run(ctx context.Context, s config.Settings, c console.Console) error {
	if k.Now {
		return withSubscription(ctx, s, c, k.Order, "has ended", func(p *program.Program, id uuid.UUID) error {
			return p.Sagas.Billing.CancelNow(ctx, sagas.ByOperator(program.AtConsole, id), id)
		})
	}
	return withSubscription(ctx, s, c, k.Order, "ends with its period", func(p *program.Program, id uuid.UUID) error {
		return p.Sagas.Billing.Cancel(ctx, sagas.ByOperator(program.AtConsole, id), id)
	})
}

type subscriptionsResume struct {
	Order string `arg:"" help:"Number or id of the order that started it."`
}

// Run takes a cancellation back.
func (r subscriptionsResume) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withSubscription(ctx, s, c, r.Order, "goes on", func(p *program.Program, id uuid.UUID) error {
		return p.Sagas.Billing.KeepOn(ctx, sagas.ByOperator(program.AtConsole, id), id)
	})
}

type subscriptionsExtend struct {
	Order  string `arg:"" help:"Number or id of the order that started it."`
	Until  string `required:"" placeholder:"DAY" help:"A day such as 2026-12-24, or a time such as 2026-12-24T12:00Z."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run gives more time.
func (e subscriptionsExtend) Run(ctx context.Context, s config.Settings, c console.Console) error {
	until, err := console.ParseTime(e.Until)
	if err != nil {
		return err
	}
	return withSubscription(ctx, s, c, e.Order, "may be paid until "+until.UTC().Format("2006-01-02 15:04 UTC"), func(
		p *program.Program, id uuid.UUID,
	) error {
		return p.Sagas.Billing.Extend(ctx, sagas.ByOperator(program.AtConsole, id), id, until, e.Reason)
	})
}

// withSubscription does something with the subscription that an order started, and says
// what became of it.
func withSubscription(
	ctx context.Context, s config.Settings, c console.Console, name, done string,
	do func(*program.Program, uuid.UUID) error,
) error {
	return withOrder(ctx, s, c, name, "subscription of %s", "the subscription of %s "+done, do)
}
