package operations

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/billing"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// invoicesBook is `hostpanel invoices book` (docs/invoices.md, "Partial payments and
// credit").
type invoicesBook struct {
	Invoice   string `arg:"" help:"Number of an invoice of the tenant, such as INV-2026-000001. An older open one is paid before it."`
	Amount    string `required:"" placeholder:"AMOUNT" help:"In the currency of the invoice, such as 2.99."`
	Method    string `enum:"bank_transfer,cash,other" default:"bank_transfer" help:"bank_transfer, cash or other."`
	Reference string `required:"" help:"By which the payment is found in the books; the tenant is shown it."`
	Received  string `placeholder:"DAY" help:"On which it has arrived, such as 2026-11-21; none: today."`
}

// Run books a payment, which pays the oldest open invoices of the tenant. What is over
// stays as credit.
func (b invoicesBook) Run(ctx context.Context, s config.Settings, c console.Console) error {
	amount, err := decimal.NewFromString(b.Amount)
	if err != nil {
		return console.Misused("%q is no amount", b.Amount)
	}
	received, err := console.ParseTime(b.Received)
	if err != nil {
		return err
	}
	return withInvoice(ctx, s, c, b.Invoice, "tells whose payment it is: "+b.Amount+" is booked", func(
		p *program.Program, i projections.Invoice,
	) error {
		if received.IsZero() {
			received = p.Sagas.Runner.Now()
		}
		_, err := p.Sagas.Billing.Book(ctx, sagas.ByOperator(program.AtConsole, i.OrderID), billing.BookPayment{
			CreditAccount: i.Account(),
			Amount:        amount, Method: b.Method, Reference: b.Reference, Received: received.UTC().Truncate(24 * time.Hour),
		})
		return err
	})
}
