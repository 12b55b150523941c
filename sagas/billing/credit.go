package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// What is booked adds to the balance of a tenant, and the balance pays the oldest open
// invoice. Both halves of a movement are one append, with the version of the balance that
// was read. So no money is applied twice (docs/invoices.md, "Partial payments and credit").

// Book books a payment that has arrived without a provider, and pays the open invoices of
// the tenant with it. A repeat answers with the booking that is there.
func (s *Service) Book(ctx context.Context, cause domain.Metadata, p billing.BookPayment) (uuid.UUID, error) {
	if err := s.hasTenant(ctx, p.Tenant); err != nil {
		return uuid.Nil, err
	}
	p = s.booking(p)
	if _, err := s.Store.Execute(ctx, cause, p); err != nil {
		return uuid.Nil, err
	}
	if err := s.applyCredit(ctx, p.CreditAccount); err != nil { // the reaction to the booking applies it as well
		s.Runner.Log().WarnContext(ctx, "a payment was booked and not applied yet", "error", sagas.Scrub(err))
	}
	b, _, err := s.balance(ctx, p.CreditAccount)
	return b.Known[billing.PaymentKey(p.Reference, p.Amount)], err
}

// booking is a payment with an id that follows from what makes it the same.
func (s *Service) booking(p billing.BookPayment) billing.BookPayment {
	p.Reference, p.At = billing.Reference(p.Reference), s.Runner.Now()
	key := billing.PaymentKey(p.Reference, p.Amount)
	if p.Marks != uuid.Nil {
		key += " " + p.Marks.String()
	}
	p.ID = uuid.NewSHA1(projections.CreditBalanceID(p.CreditAccount), []byte(key))
	return p
}

func (s *Service) hasTenant(ctx context.Context, tenant int64) error {
	_, err := s.Tables.For(projections.System).Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: tenant})
	if domain.CodeOf(err) == domain.NotFound {
		return domain.RefuseField("tenant", fmt.Sprintf("Invalid pk \"%d\" - object does not exist.", tenant))
	}
	return err
}

func (s *Service) balance(ctx context.Context, a billing.CreditAccount) (billing.Balance, int, error) {
	return eventstore.Fold(ctx, s.Store, billing.Balances, a.Stream())
}

// applyCredit pays open invoices from a balance, the oldest first, as long as both are left.
func (s *Service) applyCredit(ctx context.Context, a billing.CreditAccount) error {
	for {
		applied, err := s.applyOnce(ctx, a)
		if err != nil || !applied {
			return err
		}
	}
}

// applyOnce pays one invoice, and tells whether to look again. An invoice whose period
// cannot be renewed is about to be withdrawn, and is passed over.
func (s *Service) applyOnce(ctx context.Context, a billing.CreditAccount) (again bool, err error) {
	b, version, err := s.balance(ctx, a)
	if err != nil || !b.Left.IsPositive() {
		return false, err
	}
	open, err := s.Tables.For(projections.System).Billing().OpenInvoices(ctx, a)
	if err != nil {
		return false, err
	}
	for _, id := range open {
		i, seen, err := s.invoice(ctx, id)
		if err != nil {
			return false, err
		}
		commands := s.fromCredit(b, i, id, i.Due())
		if len(commands) == 0 {
			continue
		}
		_, err = s.Store.Execute(ctx, domain.Metadata{
			ID: uuid.NewSHA1(id, fmt.Appendf(nil, "credit/%d", version)), Actor: "system:billing",
			ExpectedVersions: domain.Versions{a.Stream(): version, commands[1].Stream(): seen},
		}, commands...)
		switch code := domain.CodeOf(err); {
		case err == nil, code == domain.Stale, errors.Is(err, eventstore.ErrConflict):
			return true, nil
		case code != domain.Conflict:
			return false, err
		}
	}
	return false, nil
}

func (s *Service) invoice(ctx context.Context, id uuid.UUID) (billing.Invoice, int, error) {
	return eventstore.Fold(ctx, s.Store, billing.Invoices, billing.Pay{ID: id}.Stream())
}

// fromCredit are the commands that pay an invoice from a balance, as far as it goes. An
// invoice of which nothing is left renews its subscription.
func (s *Service) fromCredit(b billing.Balance, i billing.Invoice, id uuid.UUID, due decimal.Decimal) []domain.Command {
	amount, now := decimal.Min(b.Left, due), s.Runner.Now()
	if !amount.IsPositive() {
		return nil
	}
	commands := []domain.Command{
		billing.ApplyCredit{CreditAccount: b.CreditAccount, Invoice: id, Amount: amount, At: now},
		billing.TakeCredit{Invoice: id, Amount: amount, Method: b.Method, Reference: b.Reference, At: now},
	}
	if amount.Equal(due) {
		commands = append(commands, billing.Renew{Order: i.Order, Invoice: id, At: now, Terms: s.Terms})
	}
	return commands
}

// issued are the commands that issue an invoice and pay it from the balance of its tenant, in
// one append, with the version of that balance.
func (s *Service) issued(ctx context.Context, issue billing.Issue) ([]domain.Command, domain.Versions, error) {
	a := billing.CreditAccount{Tenant: issue.Tenant, Currency: issue.Currency, Test: issue.Test}
	b, version, err := s.balance(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	issue.Prepaid = decimal.Min(b.Left, issue.Total)
	paying := s.fromCredit(b, billing.Invoice{Order: issue.Order}, issue.ID, issue.Total)
	return append([]domain.Command{issue}, paying...), domain.Versions{a.Stream(): version}, nil
}

// MarkPaid records that what is due of an open invoice was paid by other means, such as a
// bank transfer. It is booked, and applied to that invoice, in one append.
func (s *Service) MarkPaid(ctx context.Context, cause domain.Metadata, invoice uuid.UUID, method, reference string) error {
	return s.retried(cause, func(cause domain.Metadata) error {
		i, version, err := s.invoice(ctx, invoice)
		if err != nil {
			return err
		}
		if i.Status != billing.Open { // refused, or a repeat
			_, err = s.Store.Execute(ctx, cause, billing.TakeCredit{Invoice: invoice, At: s.Runner.Now()})
			return err
		}
		book := s.booking(
			billing.BookPayment{
				CreditAccount: i.Account(), Amount: i.Due(), Method: method, Reference: reference,
				Received: s.Runner.Now(), Marks: invoice,
			},
		)
		paying := s.fromCredit(
			billing.Balance{CreditAccount: i.Account(), Left: book.Amount, Method: method, Reference: book.Reference},
			i, invoice, book.Amount,
		)
		if cause.ExpectedVersions == nil {
			cause.ExpectedVersions = domain.Versions{paying[1].Stream(): version}
		}
		_, err = s.Store.Execute(ctx, cause, append([]domain.Command{book}, paying...)...)
		return err
	})
}

// PayCreditOut records that a part of a balance was paid out. The money itself moves outside
// of the panel.
func (s *Service) PayCreditOut(ctx context.Context, cause domain.Metadata, p billing.PayOut) error {
	p.Reference, p.At = billing.Reference(p.Reference), s.Runner.Now()
	_, err := s.Store.Execute(ctx, cause, p)
	return err
}

// ReverseBooking takes a booking back that was wrong. What the balance has not any more is
// taken from open invoices that it has paid in part, the newest first. What has paid an
// invoice as a whole cannot be taken back.
func (s *Service) ReverseBooking(
	ctx context.Context, cause domain.Metadata, a billing.CreditAccount, booking uuid.UUID, reason string,
) error {
	return s.retried(cause, func(cause domain.Metadata) error {
		b, version, err := s.balance(ctx, a)
		if err != nil {
			return err
		}
		reverse := billing.ReverseBooking{CreditAccount: a, Booking: booking, Reason: reason, At: s.Runner.Now()}
		seen := domain.Versions{a.Stream(): version}
		var commands []domain.Command
		if booked := b.Bookings[booking.String()]; !booked.Reversed && reason != "" {
			if commands, err = s.takeBack(ctx, a, booked.Amount.Sub(b.Left), seen); err != nil {
				return err
			}
		}
		if cause.ExpectedVersions == nil {
			cause.ExpectedVersions = seen
		}
		_, err = s.Store.Execute(ctx, cause, append(commands, reverse)...)
		return err
	})
}

// takeBack are the commands that take an amount back from open invoices. Their versions are
// added to seen.
func (s *Service) takeBack(
	ctx context.Context, a billing.CreditAccount, amount decimal.Decimal, seen domain.Versions,
) (commands []domain.Command, err error) {
	if !amount.IsPositive() {
		return nil, nil
	}
	open, err := s.Tables.For(projections.System).Billing().OpenInvoices(ctx, a)
	if err != nil {
		return nil, err
	}
	slices.Reverse(open)
	for _, id := range open {
		i, version, err := s.invoice(ctx, id)
		if err != nil {
			return nil, err
		}
		part, now := decimal.Min(amount, i.FromCredit), s.Runner.Now()
		if i.Status != billing.Open || !part.IsPositive() {
			continue
		}
		back := billing.GiveCreditBack{Invoice: id, Amount: part, Reason: billing.Reversed, At: now}
		commands = append(
			commands, back,
			billing.ReturnCredit{CreditAccount: a, Invoice: id, Amount: part, Reason: billing.Reversed, At: now},
		)
		seen[back.Stream()] = version
		amount = amount.Sub(part)
	}
	return commands, nil
}

// retried decides anew what another request has overtaken, unless the caller has named the
// version that it expects.
func (*Service) retried(cause domain.Metadata, try func(domain.Metadata) error) (err error) {
	seen := cause.ExpectedVersions
	for range changeTries {
		cause.ExpectedVersions = seen
		if err = try(cause); err == nil || seen != nil || domain.CodeOf(err) != domain.Stale {
			return err
		}
	}
	return eventstore.ErrConflict
}

// giveBack returns to the balance what an invoice had of it: one that was withdrawn, or
// whose part an order has paid too. Then the balance pays what is open.
func (s *Service) giveBack(ctx context.Context, r eventstore.RecordedEvent, amount decimal.Decimal, reason string) error {
	id := uuid.MustParse(r.Stream.ID)
	i, _, err := s.invoice(ctx, id)
	if err != nil {
		return err
	}
	b, _, err := s.balance(ctx, i.Account())
	if err != nil || !b.Applied[id.String()].IsPositive() {
		return err
	}
	if err := s.follow(
		ctx, r, "give credit back",
		billing.ReturnCredit{CreditAccount: i.Account(), Invoice: id, Amount: amount, Reason: reason, At: s.Runner.Now()},
	); err != nil {
		return err
	}
	return s.applyCredit(ctx, i.Account())
}
