package main

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

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
func (p *program) moneyOf(ctx context.Context, id uuid.UUID) (m moneyLines, err error) {
	o, _, err := eventstore.Fold(ctx, p.store, order.Decider, order.Stream(id))
	if err != nil {
		return m, fmt.Errorf("read the money of order %s: %w", id, err)
	}
	notes, err := p.tables.For(projections.System).CreditNotesOfOrder(ctx, id)
	return moneyLines{each(o.MoneyBack(), asRefund), each(o.Claimed(), asDispute), each(notes, asCredit)}, err
}

func asRefund(r order.SeenRefund) refundLine {
	return refundLine{r.N, r.ID, r.Payment, string(r.State), money.Format(r.Minor, r.Currency)}
}

func asDispute(d order.SeenDispute) disputeLine {
	return disputeLine{d.ID, d.Payment, string(d.State), money.Format(d.Minor, d.Currency)}
}

func asCredit(n projections.CreditNote) creditLine {
	return creditLine{n.Number, n.Refund, n.IssuedAt, n.Total.StringFixed(2) + " " + n.Currency}
}

// money prints it; nothing of an order that keeps its money.
func (c console) money(m moneyLines) {
	if len(m.Refunds)+len(m.Disputes)+len(m.CreditNotes) == 0 {
		return
	}
	i := c.ink()
	fmt.Fprintf(c.out, "\n%s\n", i.bold("money back"))
	t := table{head: []string{"what", "state", "amount", "of payment", "at the provider"}}
	for _, r := range m.Refunds {
		t.add(plain("  refund"), painted(r.Status, i.status), cell{text: r.Amount, right: true}, plain(r.Payment), plain(r.ID))
	}
	for _, d := range m.Disputes {
		t.add(plain("  dispute"), painted(d.Status, i.status), cell{text: d.Amount, right: true}, plain(d.Payment), plain(d.ID))
	}
	for _, n := range m.CreditNotes {
		t.add(plain("  "+n.Number), plain("credited"), cell{text: n.Total, right: true}, plain(""), plain(n.Refund))
	}
	t.print(c)
}

type ordersEndGrace struct {
	Order  string `arg:"" help:"Number or id."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run lets the removal of a service that has ended begin.
func (e ordersEndGrace) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		o, err := p.orderNamed(ctx, e.Order)
		if err != nil {
			return err
		}
		if err := p.sagas.EndGrace(ctx, atConsole, o.ID, e.Reason); err != nil {
			return fmt.Errorf("end the grace of %s: %w", o.OrderNumber, err)
		}
		fmt.Fprintf(c.out, "what is left of %s is removed\n", o.OrderNumber)
		return nil
	})
}
