package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
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

// An invoiceLine is an invoice as --json shows it.
type invoiceLine struct {
	ID        uuid.UUID  `json:"id"`
	Number    string     `json:"number"`
	Order     uuid.UUID  `json:"order"`
	Tenant    int64      `json:"tenant"`
	Customer  string     `json:"customer_email"`
	Status    string     `json:"status"`
	Total     string     `json:"total"`
	Tax       string     `json:"tax"`
	Currency  string     `json:"currency"`
	DueAt     *time.Time `json:"due_at"`
	PaidAt    *time.Time `json:"paid_at"`
	Method    string     `json:"payment_method"`
	Reference string     `json:"reference"`
	CreatedAt time.Time  `json:"created_at"`
}

func asInvoice(i projections.Invoice) invoiceLine {
	return invoiceLine{
		i.ID, i.Number, i.OrderID, i.Tenant, i.CustomerEmail, string(i.Status), i.Total.StringFixed(2), i.Tax.StringFixed(2), i.Currency,
		i.DueAt, i.PaidAt, i.PaymentMethod, i.Reference, i.CreatedAt,
	}
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
		found, err := p.Tables.For(projections.System).Billing().Invoices(ctx, projections.Listing{Limit: l.Limit, Filters: only("status", l.Status)})
		if err != nil {
			return err
		}
		if l.JSON {
			return c.JSON(console.Each(found.Rows, asInvoice))
		}
		t := console.Table{Head: []string{"invoice", "status", "tenant", "total", "due (UTC)", "paid by", "issued (UTC)"}}
		for _, i := range found.Rows {
			t.Add(console.Plain(i.Number), console.Painted(string(i.Status), c.Ink().Status), console.Plain(fmt.Sprint(i.Tenant)),
				console.Cell{Text: i.Total.StringFixed(2) + " " + i.Currency, Right: true}, momentOf(i.DueAt), console.Plain(i.PaymentMethod), console.Moment(i.CreatedAt))
		}
		t.Print(c)
		return nil
	})
}

func momentOf(at *time.Time) console.Cell {
	if at == nil {
		return console.Plain("")
	}
	return console.Moment(*at)
}

type invoicesTotals struct {
	JSON bool `name:"json" help:"For programs."`
}

// A totalLine is a month as --json shows it.
type totalLine struct {
	Month    string `json:"month"` // 2026-11
	Currency string `json:"currency"`
	Test     bool   `json:"test"`
	Invoices int64  `json:"invoices"`
	Total    string `json:"total"`
	Tax      string `json:"tax"`
	Unpaid   string `json:"unpaid"`
	Credited string `json:"credited"`
}

func asTotal(t projections.InvoiceTotal) totalLine {
	return totalLine{t.Month.UTC().Format("2006-01"), t.Currency, t.Test, t.Invoices, t.Total.StringFixed(2), t.Tax.StringFixed(2), t.Unpaid.StringFixed(2), t.Credited.StringFixed(2)}
}

// Run adds up invoices.
func (l invoicesTotals) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().InvoiceTotals(ctx)
		if err != nil {
			return err
		}
		lines := console.Each(found, asTotal)
		if l.JSON {
			return c.JSON(lines)
		}
		t := console.Table{Head: []string{"month", "money", "invoices", "total", "tax", "unpaid", "credited"}}
		for _, m := range lines {
			money := m.Currency
			if m.Test {
				money += " (test)"
			}
			row := []console.Cell{console.Plain(m.Month), console.Plain(money), console.Number(m.Invoices)}
			for _, amount := range []string{m.Total, m.Tax, m.Unpaid, m.Credited} {
				row = append(row, console.Cell{Text: amount, Right: true})
			}
			t.Add(row...)
		}
		t.Print(c)
		return nil
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
func withInvoice(ctx context.Context, s config.Settings, c console.Console, number, done string, do func(*program.Program, projections.Invoice) error) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().Invoices(ctx, projections.Listing{Limit: 1, Filters: only("number", number)})
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
	Status string `enum:"active,cancelling,past_due,suspended,ended," default:"" placeholder:"STATUS" help:"Only these: active, cancelling, past_due, suspended, ended."`
	Limit  int64  `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// A subscriptionLine is a subscription as --json shows it.
type subscriptionLine struct {
	Order     uuid.UUID  `json:"order"`
	Tenant    int64      `json:"tenant"`
	Plan      string     `json:"plan_name"`
	Cycle     string     `json:"billing_period"`
	Price     string     `json:"price"`
	Currency  string     `json:"currency"`
	Status    string     `json:"status"`
	PeriodEnd time.Time  `json:"period_end"`
	DueAt     *time.Time `json:"due_at"`
	NextAt    *time.Time `json:"next_at"`
	EndReason string     `json:"end_reason"`
}

func asSubscription(s projections.Subscription) subscriptionLine {
	return subscriptionLine{s.OrderID, s.Tenant, s.PlanName, s.BillingPeriod, s.Price.String(), s.Currency, string(s.Status), s.PeriodEnd, s.DueAt, s.NextAt, s.EndReason}
}

// Run lists subscriptions.
func (l subscriptionsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Billing().Subscriptions(ctx, projections.Listing{Limit: l.Limit, Filters: only("status", l.Status)})
		if err != nil {
			return err
		}
		if l.JSON {
			return c.JSON(console.Each(found.Rows, asSubscription))
		}
		t := console.Table{Head: []string{"order", "status", "tenant", "plan", "price", "paid until (UTC)", "next step (UTC)"}}
		for _, s := range found.Rows {
			t.Add(console.Plain(s.OrderID.String()), console.Painted(string(s.Status), c.Ink().Status), console.Plain(fmt.Sprint(s.Tenant)), console.Plain(s.PlanName),
				console.Cell{Text: s.Price.StringFixed(2) + " " + s.Currency, Right: true}, console.Moment(s.PeriodEnd), momentOf(s.NextAt))
		}
		t.Print(c)
		return nil
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
	return withSubscription(ctx, s, c, e.Order, "may be paid until "+until.UTC().Format("2006-01-02 15:04 UTC"), func(p *program.Program, id uuid.UUID) error {
		return p.Sagas.Billing.Extend(ctx, sagas.ByOperator(program.AtConsole, id), id, until, e.Reason)
	})
}

// withSubscription does something with the subscription that an order started, and says
// what became of it.
func withSubscription(ctx context.Context, s config.Settings, c console.Console, name, done string, do func(*program.Program, uuid.UUID) error) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		o, err := p.OrderNamed(ctx, name)
		if err != nil {
			return err
		}
		if err := do(p, o.ID); err != nil {
			return fmt.Errorf("subscription of %s: %w", o.OrderNumber, err)
		}
		fmt.Fprintf(c.Out, "the subscription of %s %s\n", o.OrderNumber, done)
		return nil
	})
}
