package billing

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// pages are the credit balances of a tenant, with their movements.
func (s *credit) pages() []route.Route {
	const path = web.CreditPath + "{id:uuid}/"
	pages := web.ActPage[*creditBalance]{
		Web: s.web, Find: s.balanceWithMovements, Show: s.showBalance,
		Acts: []web.Act[*creditBalance]{
			{
				Name: "pay_out_credit", IsOpen: func(b *creditBalance) bool { return b.isOperator && b.Balance.IsPositive() },
				Grave: true, Inputs: func(*creditBalance) []web.Input { return web.RecordInputs(new(payout).Fields(), field.Create) }, Do: web.Pressed(s.payOutOf),
			},
			{
				Name: "reverse_booking", IsOpen: func(b *creditBalance) bool { return b.isOperator && len(reversible(b)) > 0 },
				Grave: true, Inputs: reversalInputs, Do: web.Pressed(s.reverseByForm),
			},
		},
	}.Routes(path, "credit", "Credit balance", "A credit balance", "Pay credit out, or take a booking back")
	pages[1] = pages[1].For(caller.AdminSession(s.callers))
	return append([]route.Route{
		web.View(web.CreditPath, "The tenant's credit balances", s.showBalances).As("credits_page"),
	}, pages...)
}

// A balanceRow is a credit balance in a list.
type balanceRow struct{ Path, Name, Balance string }

func rowOfBalance(w web.Words, b projections.CreditBalance) balanceRow {
	row := balanceRow{Path: web.CreditPath + b.ID.String() + "/", Name: b.Currency, Balance: w.Money(b.Balance, b.Currency)}
	if b.Test {
		row.Name += " (" + w["credit_test"] + ")"
	}
	return row
}

func (s *credit) showBalances(ctx context.Context, c route.Call) (*route.Document, error) {
	data, err := listed(ctx, c, "Balances", s.callers.Scope(c).Billing().CreditBalances, rowOfBalance)
	return listSheet(s.web, c, "credits", data, err)
}

// mostMovements is how many movements the page of a balance shows. The API has all.
const mostMovements = 100

func (s *credit) balanceWithMovements(ctx context.Context, c route.Call) (*creditBalance, error) {
	b, err := s.balance(ctx, c)
	if err != nil {
		return b, err
	}
	found, err := s.callers.Scope(c).Billing().CreditMovements(ctx, projections.Listing{Limit: mostMovements, Filters: []projections.Filter{
		{Field: "tenant", Op: "=", Value: b.Tenant}, {Field: "currency", Op: "=", Value: b.Currency}, {Field: "test_money", Op: "=", Value: b.Test},
	}})
	b.movements = found.Rows
	return b, err
}

// A movementRow is a movement on the page of its balance.
type movementRow struct {
	Text, Amount, Balance, Reference, Reason, Path, Number, By string
	At                                                         web.Aspect
	Reversed                                                   bool
}

func rowOfMovement(w web.Words, m projections.CreditMovement) movementRow {
	row := movementRow{
		Text: w["credit_"+m.Kind], Amount: w.Money(m.Amount, m.Currency), Balance: w.Money(m.Balance, m.Currency),
		Reference: m.Reference, Reason: m.Reason, By: m.Actor, At: w.Moment("", &m.CreatedAt, ""), Reversed: m.Reversed,
	}
	if m.Invoice != nil && m.Number != nil {
		row.Path, row.Number = web.InvoicesPath+m.Invoice.String()+"/", *m.Number
	}
	return row
}

// showBalance is the page of a credit balance.
func (s *credit) showBalance(_ context.Context, c route.Call, b *creditBalance, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	rows := make([]movementRow, len(b.movements))
	for i, one := range b.movements {
		rows[i] = rowOfMovement(w, one)
	}
	row := rowOfBalance(w, b.CreditBalance)
	return s.web.Sheet(c, back.StatusOf(), "credit", "credit_title", map[string]any{
		"Title": w["credit_title"] + " " + row.Name, "Balance": row, "Movements": rows, "Acts": acts,
	})
}

// reversible are the bookings that are not taken back, of those that the page shows.
func reversible(b *creditBalance) (all []projections.CreditMovement) {
	for _, m := range b.movements {
		if m.Kind == "booked" && !m.Reversed {
			all = append(all, m)
		}
	}
	return all
}

// A reversal names a booking and why it was wrong.
type reversal struct {
	Booking uuid.UUID
	waiver
}

// Fields are the form.
func (r *reversal) Fields() field.Set {
	return append(field.Set{field.UUID("booking", &r.Booking).Required()}, r.waiver.Fields()...)
}

func reversalInputs(b *creditBalance) []web.Input {
	choice := web.Input{Name: "booking", Type: "select", Required: true}
	for _, m := range reversible(b) {
		choice.Options = append(choice.Options, web.Option{Value: m.ID.String(), Text: m.Reference + ", " + m.Amount.StringFixed(2) + " " + m.Currency})
	}
	return append([]web.Input{choice}, web.RecordInputs(new(waiver).Fields(), field.Create)...)
}

func (s *credit) reverseByForm(ctx context.Context, c route.Call, b *creditBalance, r *reversal) error {
	if !b.isOperator {
		return route.NoPermission
	}
	m, err := s.callers.System().Billing().CreditMovement(ctx, r.Booking)
	if record.IsMissing(err) || err == nil && m.Account() != b.Account() {
		return domain.RefuseField("booking", "There is no such booking.")
	}
	if err != nil {
		return err
	}
	return s.subscriptions.ReverseBooking(ctx, c.Cause(), m.Account(), m.ID, r.Reason)
}
