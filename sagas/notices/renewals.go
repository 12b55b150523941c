package notices

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// billingNews notifies the customers of subscriptions.
type billingNews struct{ notifier *Notifier }

// react tells the customer of a subscription how its renewal stands
// (docs/invoices.md, "Renewals").
func (n billingNews) react(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case billing.PeriodInvoiced:
		return n.tellOfNewBill(ctx, r, e)
	case billing.ChargeFailed:
		return n.tellOfBill(ctx, r, newsOfCharge(e), e.Invoice, e.DueAt)
	case billing.PaymentMethodSaved:
		return n.tellOfMethod(ctx, r, e)
	case billing.InvoicePartPaid:
		return n.tellOfPart(ctx, r, e)
	case billing.PaymentReminded:
		return n.tellOfBill(ctx, r, notice.PaymentReminder, e.Invoice, e.DueAt)
	case billing.PaymentOverdue:
		return n.tellOfBill(ctx, r, notice.PaymentOverdue, e.Invoice, e.DueAt)
	case billing.SubscriptionSuspended:
		return n.tellOfBill(ctx, r, notice.PlanSuspended, e.Invoice, e.EndsAt)
	case billing.EndAnnounced:
		return n.tellOfBill(ctx, r, notice.PlanEnds, e.Invoice, e.NextAt)
	case billing.PeriodRenewed:
		if e.Waived != "" {
			return n.tellOfBill(ctx, r, notice.InvoiceWaived, e.Invoice, e.PeriodEnd)
		}
		return n.tellOfBill(ctx, r, notice.InvoicePaid, e.Invoice, e.PeriodEnd)
	case billing.CancellationRequested:
		return n.tellOfPlan(ctx, r, notice.PlanCancelled, e.NextAt)
	case billing.SubscriptionEnded:
		if e.Reason == billing.Unpaid || e.Reason == billing.Cancelled {
			return n.tellOfPlan(ctx, r, notice.PlanEnded, e.At)
		}
	}
	return nil
}

// tellOfPart tells that a part of an invoice is paid, and what is left.
func (n billingNews) tellOfPart(ctx context.Context, r eventstore.RecordedEvent, e billing.InvoicePartPaid) error {
	i, err := n.notifier.tables.For(projections.System).Billing().Invoice(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	o, err := n.notifier.order(ctx, i.OrderID)
	if err != nil {
		return err
	}
	plan, err := n.planOf(ctx, o)
	if err != nil {
		return err
	}
	bill := notice.Bill{
		Invoice: i.ID, Tenant: i.Tenant, Number: i.Number, Plan: plan, Total: e.Amount, Rest: e.Due,
		Currency: i.Currency, Day: domain.OrZero(i.DueAt),
	}
	return n.notifier.tellCustomer(ctx, r, o, bill.News(notice.InvoicePartPaid, o.Language))
}

// paidOnIssue tells whether the balance has paid an invoice in the append that issued it.
func paidOnIssue(i projections.Invoice) bool { return i.PaidAt != nil && i.PaidAt.Equal(i.CreatedAt) }

// toPay is what news of an invoice name: the rest of an open one, else its total.
func toPay(i projections.Invoice) decimal.Decimal {
	if i.Status == billing.Open {
		return i.AmountDue
	}
	return i.Total
}

// tellOfNewBill tells whether the invoice of the next period is charged, or has to be paid.
func (n billingNews) tellOfNewBill(ctx context.Context, r eventstore.RecordedEvent, e billing.PeriodInvoiced) error {
	sub, err := n.notifier.tables.For(projections.System).Billing().Subscription(ctx, uuid.MustParse(r.Stream.ID))
	template := notice.InvoiceDue
	if sub.SavedMethod != nil {
		template = notice.InvoiceToCharge
	}
	if err != nil {
		return err
	}
	return n.tellOfBill(ctx, r, template, e.Invoice, e.DueAt)
}

func newsOfCharge(e billing.ChargeFailed) string {
	switch {
	case e.Code == order.NeedsCustomer:
		return notice.ChargeConfirm
	case e.Final:
		return notice.ChargeEnded
	}
	return notice.ChargeFailed
}

func (n billingNews) tellOfMethod(ctx context.Context, r eventstore.RecordedEvent, e billing.PaymentMethodSaved) error {
	if e.Setup != uuid.Nil {
		return n.tellOfAdded(ctx, r, e)
	}
	o, err := n.notifier.order(ctx, e.Order)
	if err != nil {
		return err
	}
	return n.notifier.tellCustomer(ctx, r, o, notice.MethodNews(o.PlanName, e.Label(), o.Language))
}

// tellOfAdded tells who has added a payment method without a payment.
func (n billingNews) tellOfAdded(ctx context.Context, r eventstore.RecordedEvent, e billing.PaymentMethodSaved) error {
	setup, err := n.notifier.tables.For(projections.System).Billing().MethodSetup(ctx, e.Setup)
	if err != nil {
		return err
	}
	user, err := n.notifier.tables.For(projections.System).Accounts().User(ctx, setup.User)
	if err != nil {
		return unlessMissing(err)
	}
	return n.notifier.tell(ctx, r, user.ID, notice.MethodAddedNews(e.Label(), user.Language), nil)
}

// tellOfBill tells of an invoice and of a day. Of nothing to pay its own notification tells.
func (n billingNews) tellOfBill(ctx context.Context, r eventstore.RecordedEvent, template string, invoice uuid.UUID, day time.Time) error {
	o, err := n.notifier.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	i, err := n.notifier.tables.For(projections.System).Billing().Invoice(ctx, invoice)
	if err != nil || i.Total.IsZero() || paidOnIssue(i) && template != notice.InvoicePaid {
		return err
	}
	plan, err := n.planOf(ctx, o)
	if err != nil {
		return err
	}
	bill := notice.Bill{Invoice: invoice, Tenant: i.Tenant, Number: i.Number, Plan: plan, Total: toPay(i), Currency: i.Currency, Day: day}
	return n.notifier.tellCustomer(ctx, r, o, bill.News(template, o.Language))
}

func (n billingNews) tellOfPlan(ctx context.Context, r eventstore.RecordedEvent, template string, day time.Time) error {
	o, err := n.notifier.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	plan, err := n.planOf(ctx, o)
	if err != nil {
		return err
	}
	return n.notifier.tellCustomer(ctx, r, o, notice.PlanNews(template, o.ID, plan, day, o.Language))
}

// bought is the order whose customer is told of an order: that which started the
// subscription, if the order pays an invoice of it.
func (n billingNews) bought(ctx context.Context, o projections.Order) (uuid.UUID, error) {
	if o.Invoice == nil {
		return o.ID, nil
	}
	i, err := n.notifier.tables.For(projections.System).Billing().Invoice(ctx, *o.Invoice)
	return i.OrderID, err
}
