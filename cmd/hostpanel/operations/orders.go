// Package operations has the commands for the daily work on orders, runs and webhooks of
// payment providers (docs/operations.md).
package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/operations/suggestions"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/wording"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Orders is `hostpanel orders`.
type Orders struct {
	List    ordersList    `cmd:"" help:"List orders, newest first."`
	Show    ordersShow    `cmd:"" help:"Show one order and how its setup went."`
	Preview ordersPreview `cmd:"" help:"Tell what a new order would cost and do, without placing it."`
	Retry   ordersRetry   `cmd:"" help:"Let a failed order go on at the step where it stopped."`
	Refund  ordersRefund  `cmd:"" help:"Give money back: an amount, or all that is left."`
	Accept  ordersAccept  `cmd:"" help:"Accept a payment that differs from what was ordered."`
	Cancel  ordersCancel  `cmd:"" help:"Give an order up, take it back, or end its service."`

	Dispute ordersDispute `cmd:"" help:"Say how a dispute stands that the provider does not tell."`

	EndGrace ordersEndGrace `cmd:"" help:"Remove what is left of a service that has ended, now."`
}

type ordersList struct {
	Status string `placeholder:"STATUS"`
	Limit  int    `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (ordersList) Abouts() map[string]string {
	return map[string]string{
		"status": "Only these: pending, payment_processing, paid, provisioning, active, failed, cancelled, " +
			"refunded.",
	}
}

// Run lists orders.
func (l ordersList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Orders().Orders(
			ctx, projections.OrderFilter{Status: order.Status(l.Status), Limit: l.Limit},
		)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found, orderColumns)
	})
}

var orderColumns = field.ColumnsOf[projections.Order](
	"order_number", "status", "customer_email", "plan_name", "total", "payment_method", "created_at", "holds+failed_step",
)

type ordersShow struct {
	Order string `arg:"" help:"Number or id."`
	JSON  bool   `name:"json" help:"For programs."`
}

// Run shows an order, what became of its money, its runs and each try.
func (cmd ordersShow) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		o, err := p.OrderNamed(ctx, cmd.Order)
		if err != nil {
			return err
		}
		runs, err := p.Sagas.Runner.Operators.RunsOf(ctx, o.ID)
		if err != nil {
			return err
		}
		money, err := moneyOf(ctx, p, o.ID)
		if err != nil {
			return err
		}
		if cmd.JSON {
			set := o.Columns()
			for _, more := range []struct {
				name  string
				value any
			}{
				{"refunds", money.Refunds},
				{"disputes", money.Disputes},
				{"credit_notes", money.CreditNotes},
				{"runs", console.Each(runs, asRun)},
				{"go_on", suggestions.For(o, runs, money.claimed)},
			} {
				text, err := json.Marshal(more.value)
				if err != nil {
					return fmt.Errorf("show order %s: %w", o.OrderNumber, err)
				}
				raw := json.RawMessage(text)
				set = append(set, field.Any(more.name, &raw))
			}
			return c.JSON(set)
		}
		printOrder(c, o)
		printMoney(c, money)
		for _, r := range runs {
			printRun(c, r)
		}
		suggestions.Print(c, suggestions.For(o, runs, money.claimed))
		return nil
	})
}

func printOrder(c console.Console, o projections.Order) {
	i := c.Ink()
	fmt.Fprintf(c.Out, "%s  %s\n\n", i.Bold(o.OrderNumber), i.Status(string(o.Status)))
	for _, line := range [][2]string{
		{"id", o.ID.String()},
		{"customer", strings.Join(console.Some(o.CustomerName, o.CustomerCompany, o.CustomerEmail, o.CustomerPhone), ", ")},
		{"address", o.AddressLine()},
		{"tax id", o.CustomerTaxID},
		{"plan", fmt.Sprintf("%s, %s", o.PlanName, o.BillingPeriod)},
		{"total", fmt.Sprintf("%s %s, of it %s tax", o.Total.StringFixed(2), o.Currency, o.Tax.StringFixed(2))},
		{"taxed", wording.Spaced(string(o.TaxKind)) + wording.Around(" of ", o.TaxCountry, "")},
		{"payment", strings.Join(console.Some(o.PaymentMethod, o.PaymentID, string(o.PaymentStatus)), ", ")},
		{"refunded", gone(o)},
		{"domain", o.Domain},
		{"system", o.OSChoice},
		{"placed", o.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC")},
		{"holds", strings.Join(texts(o.Holds), ", ")},
		{"warnings", strings.Join(texts(o.Warnings), ", ")},
		{"cancelled", wording.Spaced(string(o.CancelReason))},
		{"stopped at", wording.Around("", o.FailedStep, wording.Around(": ", wording.Spaced(o.FailedCode), ""))},
	} {
		if line[1] != "" {
			fmt.Fprintf(c.Out, "  %s %s\n", i.Faint(fmt.Sprintf("%-10s", line[0])), console.OneLine(line[1]))
		}
	}
}

// gone is what went back of the order's payment, or was lost: "2.99 EUR".
func gone(o projections.Order) string {
	if o.Refunded == 0 {
		return ""
	}
	return money.Format(o.Refunded, o.Currency)
}

// printRun prints the steps of a run, what was made and what failed.
func printRun(c console.Console, r sagas.RunView) {
	i := c.Ink()
	fmt.Fprintf(c.Out, "\n%s  %s\n", i.Bold(r.Def), i.Status(r.Status))
	t := console.Table{Head: []string{"step", "state", "tries", "made", "last error"}}
	for n, place := range r.Steps {
		l := lineOf(r, n, place)
		t.Add(
			console.Plain("  "+l.Step), console.Painted(l.State, i.Status), console.Number(l.Attempts),
			console.Plain(l.External), console.Painted(l.LastError, i.Red),
		)
	}
	t.Print(c)
}

// A runLine is a run as --json shows it.
type runLine struct {
	ID        uuid.UUID  `json:"id"`
	Key       string     `json:"key"`
	Def       string     `json:"def"`
	Direction string     `json:"direction"`
	Status    string     `json:"status"`
	NextRunAt time.Time  `json:"next_run_at"`
	Steps     []stepLine `json:"steps"`
}

type stepLine struct {
	Step      string `json:"step"`
	State     string `json:"state"` // done, then that of the run, then ahead
	Attempts  int    `json:"attempts"`
	External  string `json:"external_id"`
	LastError string `json:"last_error"`
}

func asRun(r sagas.RunView) runLine {
	l := runLine{r.ID, r.Key, r.Def, r.Direction, r.Status, r.RunAt, nil}
	for n, place := range r.Steps {
		l.Steps = append(l.Steps, lineOf(r, n, place))
	}
	return l
}

func lineOf(r sagas.RunView, n int, place sagas.StepRef) stepLine {
	l := stepLine{Step: place.Name, State: "ahead"}
	switch {
	case n < r.Step:
		l.State = "done"
	case n == r.Step:
		l.State = r.Status
	}
	for _, a := range r.Attempts {
		if a.Step == n {
			l.Attempts++
			if a.Outcome != "wait" {
				l.LastError = a.Error
			}
		}
	}
	if r.IsTask() {
		l.Attempts = r.Attempt
	}
	for _, e := range r.Effects {
		if e.Step == place.Name {
			l.External = e.ExternalID
		}
	}
	return l
}

type ordersRetry struct {
	Order  string            `arg:"" help:"Number or id."`
	Reason string            `required:"" help:"Why; it stands in the log."`
	Input  map[string]string `placeholder:"FIELD=VALUE" help:"What the step shall work with instead, such as domain=other.example."`
}

// Run lets an order go on.
func (r ordersRetry) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withOrder(ctx, s, c, r.Order, "retry %s", "%s goes on", func(p *program.Program, id uuid.UUID) error {
		return p.Sagas.Orders.Retry(ctx, program.AtConsole, id, r.Input, r.Reason)
	})
}

// withOrder does something with the order that a number or an id names, and says what
// became of it. The order's number stands for %s.
func withOrder(
	ctx context.Context, s config.Settings, c console.Console, name, what, done string, do func(*program.Program, uuid.UUID) error,
) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		o, err := p.OrderNamed(ctx, name)
		if err != nil {
			return err
		}
		if err := do(p, o.ID); err != nil {
			return fmt.Errorf("%s: %w", strings.Replace(what, "%s", o.OrderNumber, 1), err)
		}
		fmt.Fprintln(c.Out, strings.Replace(done, "%s", o.OrderNumber, 1))
		return nil
	})
}

type ordersRefund struct {
	Order  string `arg:"" help:"Number or id."`
	Amount string `placeholder:"AMOUNT" help:"In the order's currency, such as 2.99; none: all that is left."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run gives money back. The process that works on runs calls the provider.
func (r ordersRefund) Run(ctx context.Context, s config.Settings, c console.Console) error {
	var amount *decimal.Decimal
	if r.Amount != "" {
		part, err := decimal.NewFromString(r.Amount)
		if err != nil {
			return console.Misused("%q is no amount", r.Amount)
		}
		amount = &part
	}
	return withOrder(ctx, s, c, r.Order, "refund %s", "%s is to be refunded", func(p *program.Program, id uuid.UUID) error {
		return p.Sagas.Payments.Refund(ctx, program.AtConsole, id, amount, r.Reason)
	})
}

type ordersAccept struct {
	Order  string `arg:"" help:"Number or id."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run accepts a payment.
func (a ordersAccept) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withOrder(ctx, s, c, a.Order, "accept the payment of %s", "the payment of %s is accepted", func(
		p *program.Program, id uuid.UUID,
	) error {
		return p.Sagas.Payments.Accept(ctx, program.AtConsole, id, a.Reason)
	})
}

type ordersCancel struct {
	Order  string `arg:"" help:"Number or id."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run cancels an order.
func (k ordersCancel) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withOrder(ctx, s, c, k.Order, "cancel %s", "%s is cancelled, or being taken back", func(
		p *program.Program, id uuid.UUID,
	) error {
		return p.Sagas.Orders.Cancel(ctx, program.AtConsole, id, k.Reason)
	})
}

type ordersDispute struct {
	Order   string `arg:"" help:"Number or id."`
	Outcome string `required:"" enum:"open,won,lost" help:"open, won or lost."`
	Reason  string `required:"" help:"Why; it stands in the log."`
}

// Run enters how a dispute stands.
func (d ordersDispute) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withOrder(ctx, s, c, d.Order, "enter the dispute of %s", "the dispute of %s is "+d.Outcome, func(
		p *program.Program, id uuid.UUID,
	) error {
		return p.Sagas.Payments.Dispute(ctx, program.AtConsole, id, order.DisputeState(d.Outcome), d.Reason)
	})
}

func texts[T ~string](all []T) []string {
	return console.Each(all, func(t T) string { return string(t) })
}
