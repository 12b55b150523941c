package billing

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// What tenants have paid without a provider, and what is left of it (docs/invoices.md,
// "Partial payments and credit").

const (
	creditPath    = prefix + "credit/"
	movementsPath = prefix + "credit-movements/"
)

// A creditBalance is what a tenant has left in a currency.
type creditBalance struct {
	projections.CreditBalance
	isOperator bool // the caller operates the installation

	movements []projections.CreditMovement // on its page, the newest of them
}

func (s *credit) routes() []route.Route {
	return []route.Route{
		listing.Pages[projections.CreditBalance](
			creditPath, "Credit balances, newest first", listing.Spec{Filters: creditFilters, UUIDs: true},
			caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.CreditBalances),
		).As("credit_list"),
		route.Get(creditPath+
			"{id:uuid}/", "A credit balance", record.Found[creditBalance]).As("credit_read").Of("Credit balance").Finding(s.findBalance),
		route.Post(creditPath+"{id:uuid}/pay_out/", "Record that credit was paid out", s.payOut).As("credit_pay_out").Of("Credit balance").
			With(http.StatusOK).For(s.callers.SuperuserConfirmed()).Finding(s.findBalance).
			Saying("The money itself moves outside of the panel. A repeat with the same reference and amount changes nothing.").
			Failing(http.StatusConflict, "The balance is lower (credit_used)."),
		listing.Pages[projections.CreditMovement](
			movementsPath, "Movements of credit balances, newest first", listing.Spec{Filters: movementFilters, UUIDs: true},
			caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.CreditMovements),
		).As("credit_movement_list"),
		route.Get(movementsPath+"{id:uuid}/", "A movement of a credit balance", record.Found[projections.CreditMovement]).
			As("credit_movement_read").Of("Credit movement").Finding(s.findMovement),
		route.Post(movementsPath, "Book a payment that has arrived without a provider", s.book).
			As("credit_movement_create").Of("Credit movement").For(s.callers.Superuser()).
			Saying(
				"The oldest open invoice of the tenant is paid first. What is over stays as credit. A repeat with "+
					"the same reference and amount answers with the first booking.",
			).
			Failing(http.StatusConflict, "Such a booking was reversed (payment_reversed)."),
		route.Post(movementsPath+
			"{id:uuid}/reverse/", "Take back a booking that was wrong", s.reverse).As("credit_movement_reverse").Of("Credit movement").
			With(http.StatusOK).For(s.callers.Superuser()).Finding(s.findMovement).
			Saying("What is not left of it is taken back from open invoices that it has paid in part.").
			Failing(http.StatusConflict, "It has paid an invoice as a whole, or was paid out (credit_used)."),
	}
}

func creditFilters() field.Set {
	return field.Set{
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("currency", new(string)).Doc("Only those in this currency."),
	}
}

func movementFilters() field.Set {
	return append(creditFilters(),
		field.Text("kind", new(string)).Among(projections.CreditKinds...).Doc("Only those of this kind."),
		field.UUID("invoice", new(uuid.UUID)).Doc("Only those of this invoice."))
}

// balance is the one that the path names.
func (s *credit) balance(ctx context.Context, c route.Call) (*creditBalance, error) {
	row, err := s.callers.Scope(c).Billing().CreditBalance(ctx, c.UUID("id"))
	return &creditBalance{CreditBalance: row, isOperator: caller.Of(c).IsSuperuser}, err
}

func (s *credit) findBalance(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.balance(ctx, c))
}

func (s *credit) findMovement(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.callers.Scope(c).Billing().CreditMovement(ctx, c.UUID("id"))
	return record.Subject(&row, err)
}

// A receipt is a payment that has arrived without a provider.
type receipt struct {
	Amount                      decimal.Decimal
	Method, Reference, Received string
}

// Fields are what every booking asks for.
func (p *receipt) Fields() field.Set {
	return field.Set{
		field.Amount("amount", &p.Amount, 14, 2).Required(),
		field.Text("payment_method", &p.Method).Required().Among(billing.ManualMethods...),
		field.Text("reference", &p.Reference).Required().Max(200).Is(field.Plain).Doc(
			"By which the payment is found in the books. It stands in the log, and the tenant is shown it.",
		),
		field.Text("received_on", &p.Received).Max(10).Is(field.Plain).Default("").Doc(
			"The day on which it has arrived, such as 2026-11-21; blank: today.",
		),
	}
}

// of is the booking for an account.
func (p *receipt) of(a billing.CreditAccount, now time.Time) (billing.BookPayment, error) {
	day := now.UTC().Truncate(24 * time.Hour)
	if p.Received != "" {
		var err error
		if day, err = time.Parse(time.DateOnly, p.Received); err != nil {
			return billing.BookPayment{}, billing.ErrReceived
		}
	}
	return billing.BookPayment{CreditAccount: a, Amount: p.Amount, Method: p.Method, Reference: p.Reference, Received: day}, nil
}

// A bookingRequest is a payment of a tenant, or of the one that an invoice bills.
type bookingRequest struct {
	receipt
	Tenant   *int64
	Invoice  *uuid.UUID
	Currency string
	Test     bool
}

// Fields are the request.
func (p *bookingRequest) Fields() field.Set {
	return append(field.Set{
		field.NullInt("tenant", &p.Tenant).Doc("Who has paid; null: an invoice tells."),
		field.NullUUID("invoice", &p.Invoice).Doc("Tells tenant, currency and test_money. An older one is paid before it."),
		field.Text("currency", &p.Currency).Max(3).Is(field.Plain).Default("").Doc("ISO 4217; blank: an invoice tells."),
		field.Flag("test_money", &p.Test).Default(false).Doc("Whether no real money is meant."),
	}, p.receipt.Fields()...)
}

// account is whose payment it is.
func (s *credit) account(ctx context.Context, c route.Call, p *bookingRequest) (billing.CreditAccount, error) {
	switch {
	case p.Invoice != nil:
		i, err := s.callers.Scope(c).Billing().Invoice(ctx, *p.Invoice)
		if record.IsMissing(err) {
			err = domain.RefuseField("invoice", "There is no such invoice.")
		}
		if err == nil {
			err = p.mismatch(i.Account())
		}
		return i.Account(), err
	case p.Tenant == nil:
		return billing.CreditAccount{}, domain.RefuseField("tenant", "Give a tenant or an invoice.")
	}
	return billing.CreditAccount{Tenant: *p.Tenant, Currency: p.Currency, Test: p.Test}, nil
}

// mismatch refuses what the request says otherwise than its invoice.
func (p *bookingRequest) mismatch(of billing.CreditAccount) error {
	switch {
	case p.Tenant != nil && *p.Tenant != of.Tenant:
		return domain.RefuseField("tenant", "The invoice is of another tenant.")
	case p.Currency != "" && p.Currency != of.Currency:
		return domain.RefuseField("currency", "The invoice has another currency.")
	}
	return nil
}

func (s *credit) book(ctx context.Context, c route.Call, p *bookingRequest) (*projections.CreditMovement, error) {
	a, err := s.account(ctx, c, p)
	if err != nil {
		return nil, err
	}
	payment, err := p.of(a, s.callers.Now())
	if err != nil {
		return nil, err
	}
	id, err := s.subscriptions.Book(ctx, c.Cause(), payment)
	if err != nil {
		return nil, err
	}
	row, err := s.callers.System().Billing().CreditMovement(ctx, id)
	return &row, err
}

// A payout is credit that went back to the customer.
type payout struct {
	Amount            decimal.Decimal
	Reference, Reason string
}

// Fields are the request.
func (p *payout) Fields() field.Set {
	return field.Set{
		field.Amount("amount", &p.Amount, 14, 2).Required(),
		field.Text("reference", &p.Reference).Required().Max(200).Is(field.Plain).Doc(
			"By which the payment is found in the books. It stands in the log.",
		),
		field.Text("reason", &p.Reason).Required().Max(500).Is(field.Plain).Doc("It stands in the log."),
	}
}

func (s *credit) payOut(ctx context.Context, c route.Call, p *payout) (*creditBalance, error) {
	if err := s.payOutOf(ctx, c, c.Subject.(*creditBalance), p); err != nil { //nolint:forcetypeassert // found by findBalance
		return nil, err
	}
	return record.Shown(c, func() (*creditBalance, error) { return s.balance(ctx, c) })
}

func (s *credit) payOutOf(ctx context.Context, c route.Call, b *creditBalance, p *payout) error {
	if !b.isOperator {
		return route.NoPermission
	}
	return s.subscriptions.PayCreditOut(ctx, c.CauseOf(domain.Versions{b.Account().Stream(): b.Version}), billing.PayOut{
		CreditAccount: b.Account(), Amount: p.Amount, Reference: p.Reference, Reason: p.Reason,
	})
}

func (s *credit) reverse(ctx context.Context, c route.Call, w *waiver) (*projections.CreditMovement, error) {
	m := c.Subject.(*projections.CreditMovement) //nolint:forcetypeassert // found by findMovement
	if err := s.subscriptions.ReverseBooking(ctx, c.Cause(), m.Account(), m.ID, w.Reason); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*projections.CreditMovement, error) {
		row, err := s.callers.System().Billing().CreditMovement(ctx, m.ID)
		return &row, err
	})
}
