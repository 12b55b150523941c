package notices

import (
	"context"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
)

// reactToCredit tells the administrators of a tenant how its credit balance has changed
// (docs/invoices.md, "Partial payments and credit"). What an invoice takes of it is told
// with the invoice.
func (n billingNews) reactToCredit(ctx context.Context, r eventstore.RecordedEvent) error {
	says := func(template string, a billing.CreditAccount, amount, left decimal.Decimal) error {
		return n.notifier.tellAdmins(ctx, r, func(language string) notice.Text {
			return notice.CreditNews(template, amount, left, a.Currency, language)
		}, nil)
	}
	switch e := r.Event.(type) {
	case billing.PaymentBooked:
		if e.Marks == uuid.Nil {
			return says(notice.PaymentReceived, e.CreditAccount, e.Amount, e.Left)
		}
	case billing.CreditReturned:
		if e.Reason != billing.Reversed {
			return says(notice.CreditReturned, e.CreditAccount, e.Amount, e.Left)
		}
	case billing.CreditPaidOut:
		return says(notice.CreditPaidOut, e.CreditAccount, e.Amount, e.Left)
	case billing.BookingReversed:
		return says(notice.PaymentReversed, e.CreditAccount, e.Amount, e.Left)
	}
	return nil
}
