package operations

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// The moneyLines are what of an order's money went back, is to, or is claimed
// back, and what was credited for it.
type moneyLines struct {
	Refunds     []refundLine  `json:"refunds"`
	Disputes    []disputeLine `json:"disputes"`
	CreditNotes []creditLine  `json:"credit_notes"`

	claimed []order.SeenDispute
}

// A refundLine is a refund as --json shows it.
type refundLine struct {
	Number  int    `json:"number"` // 0: made at the provider itself
	ID      string `json:"id"`
	Payment string `json:"payment_id"`
	Status  string `json:"status"`
	Amount  string `json:"amount"` // "2.99 EUR"
}

// A disputeLine is a dispute as --json shows it.
type disputeLine struct {
	ID      string `json:"id"`
	Payment string `json:"payment_id"`
	Status  string `json:"status"`
	Amount  string `json:"amount"` // "2.99 EUR"
}

// A creditLine is a credit note as --json shows it.
type creditLine struct {
	Number   string    `json:"number"`
	Refund   string    `json:"refund"` // the provider's id
	IssuedAt time.Time `json:"issued_at"`
	Total    string    `json:"total"` // "2.99 EUR"
}

// moneyOf reads what became of the money of an order.
func moneyOf(ctx context.Context, p *program.Program, id uuid.UUID) (m moneyLines, err error) {
	o, _, err := eventstore.Fold(ctx, p.Store, order.Decider, order.Stream(id))
	if err != nil {
		return m, fmt.Errorf("read the money of order %s: %w", id, err)
	}
	notes, err := p.Tables.For(projections.System).Billing().CreditNotesOfOrder(ctx, id)
	claimed := o.Claimed()
	return moneyLines{console.Each(o.MoneyBack(), asRefund), console.Each(claimed, asDispute), console.Each(notes, asCredit), claimed}, err
}

func asRefund(r order.SeenRefund) refundLine {
	return refundLine{r.N, r.ID, r.Payment, string(r.State), money.Format(r.Minor, r.Currency)}
}

func asDispute(d order.SeenDispute) disputeLine {
	return disputeLine{d.ID, d.Payment, string(d.State), money.Format(d.Minor, d.Currency)}
}

func asCredit(n projections.CreditNote) creditLine {
	return creditLine{n.Number, n.Refund, n.CreatedAt, n.Total.StringFixed(2) + " " + n.Currency}
}

// printMoney prints it; nothing of an order that keeps its money.
func printMoney(c console.Console, m moneyLines) {
	if len(m.Refunds)+len(m.Disputes)+len(m.CreditNotes) == 0 {
		return
	}
	i := c.Ink()
	fmt.Fprintf(c.Out, "\n%s\n", i.Bold("money back"))
	t := console.Table{Head: []string{"what", "state", "amount", "of payment", "at the provider"}}
	for _, r := range m.Refunds {
		t.Add(
			console.Plain("  refund"), console.Painted(r.Status, i.Status), console.Cell{Text: r.Amount, Right: true},
			console.Plain(r.Payment), console.Plain(r.ID),
		)
	}
	for _, d := range m.Disputes {
		t.Add(
			console.Plain("  dispute"), console.Painted(d.Status, i.Status), console.Cell{Text: d.Amount, Right: true},
			console.Plain(d.Payment), console.Plain(d.ID),
		)
	}
	for _, n := range m.CreditNotes {
		t.Add(
			console.Plain("  "+n.Number), console.Plain("credited"), console.Cell{Text: n.Total, Right: true},
			console.Plain(""), console.Plain(n.Refund),
		)
	}
	t.Print(c)
}

type ordersEndGrace struct {
	Order  string `arg:"" help:"Number or id."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run lets the removal of a service that has ended begin.
func (e ordersEndGrace) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return withOrder(ctx, s, c, e.Order, "end the grace of %s", "what is left of %s is removed", func(
		p *program.Program, id uuid.UUID,
	) error {
		return p.Sagas.Orders.EndGrace(ctx, program.AtConsole, id, e.Reason)
	})
}
