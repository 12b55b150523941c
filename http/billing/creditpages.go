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
	pages := web.ActRoutes(web.ActPage[*creditBalance]{
		Web: s.web, Find: s.balanceWithMovements, Show: s.showBalance,
		Acts: []web.Act[*creditBalance]{
			{
				Name: "pay_out_credit", IsOpen: func(b *creditBalance) bool { return b.isOperator && b.Balance.IsPositive() },
				Grave: true, Asks: true,
				Inputs: func(*creditBalance) []web.Input { return web.RecordInputs(new(payout).Fields(), field.Create) },
				Do:     web.Pressed(s.payOutOf),
			},
			{
				Name: "reverse_booking", IsOpen: func(b *creditBalance) bool { return b.isOperator && len(reversible(b)) > 0 },
				Grave: true, Inputs: reversalInputs, Do: web.Pressed(s.reverseByForm),
			},
		},
	}, path, "credit", "Credit balance", "A credit balance", "Pay credit out, or take a booking back")
	pages[1] = pages[1].For(caller.AdminSession(s.callers))
	return append([]route.Route{
		web.ViewList(s.list(), web.CreditPath, "The tenant's credit balances").As("credits_page"),
	}, pages...)
}

// list is the page of the tenant's credit balances.
func (s *credit) list() web.List[projections.CreditBalance] {
	return web.List[projections.CreditBalance]{
		Web: s.web, Name: "credits", Fields: (*projections.CreditBalance).Fields, Before: hasTenant, Cards: balanceCards,
		Read: caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.CreditBalances),
		More: func(c route.Call, b *projections.CreditBalance, card *web.Card) {
			card.Title = nameOfBalance(web.Texts[web.Readers(c)], b)
		},
	}
}

var balanceCards = web.Cards{Page: web.CreditPath, Title: "currency", Value: "balance"}

// nameOfBalance is its currency, and whether no real money is meant.
func nameOfBalance(w web.Words, b *projections.CreditBalance) string {
	if b.Test {
		return b.Currency + " (" + w["credit_test"] + ")"
	}
	return b.Currency
}

// mostMovements is how many movements the page of a balance shows. The API has all.
const mostMovements = 100

func (s *credit) balanceWithMovements(ctx context.Context, c route.Call) (*creditBalance, error) {
	b, err := s.balance(ctx, c)
	if err != nil {
		return b, err
	}
	found, err := s.callers.Scope(c).Billing().CreditMovements(ctx, projections.Listing{Limit: mostMovements, Filters: []projections.Filter{
		{Field: "tenant", Op: "=", Value: b.Tenant},
		{Field: "currency", Op: "=", Value: b.Currency},
		{Field: "test_money", Op: "=", Value: b.Test},
	}})
	b.movements = found.Rows
	return b, err
}

// movementList shows movements on the page of their balance.
var movementList = web.List[projections.CreditMovement]{
	Fields: (*projections.CreditMovement).Fields,
	Cards:  web.Cards{Title: "kind", Value: "amount", Note: []string{"created_at+reference+reason+actor"}},
	More: func(c route.Call, m *projections.CreditMovement, card *web.Card) {
		w := web.Texts[web.Readers(c)]
		if m.Invoice != nil && m.Number != nil {
			card.Path, card.Title = web.InvoicesPath+m.Invoice.String()+"/", card.Title+" "+*m.Number
		}
		if m.Reversed {
			card.Note = append(card.Note, web.Aspect{Text: w["credit_is_reversed"]})
		}
		card.Note = append(card.Note, w.Values(m.Fields(), "balance")...)
	},
}

// showBalance is the page of a credit balance.
func (s *credit) showBalance(
	_ context.Context, c route.Call, b *creditBalance, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, back.StatusOf(), "credit", "credit_title", map[string]any{
		"Title": w["credit_title"] + " " + nameOfBalance(w, &b.CreditBalance), "Balance": w.Card(balanceCards, b.Fields()).Value,
		"Movements": web.CardsOf(c, movementList, b.movements), "Acts": acts,
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
		choice.Options = append(
			choice.Options,
			web.Option{Value: m.ID.String(), Text: m.Reference + ", " + m.Amount.StringFixed(2) + " " + m.Currency},
		)
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
