package billing

import (
	"slices"
	"time"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/tax"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A subscription is what a service costs, and until when it is paid for.
type subscription struct {
	projections.Subscription
	change    *pendingChange
	mayChange bool // the caller administers the tenant

	// On its page, the saved payment methods that the reader may choose, and the name of
	// the one that is charged.
	methods []projections.PaymentMethod
	charged string
}

// newSubscription makes records for a caller.
func newSubscription(c route.Call) func(projections.Subscription) subscription {
	mayChange := caller.Of(c).Administers()
	return func(row projections.Subscription) subscription {
		return subscription{Subscription: row, change: pendingOf(row.PlanChange), mayChange: mayChange}
	}
}

// Tag changes with the subscription.
func (s *subscription) Tag() string {
	return record.Tag(billing.SubscriptionCategory, s.OrderID.String(), s.Version)
}

// Fields are the subscription.
func (s *subscription) Fields() field.Set {
	return field.Set{
		field.UUID("id", &s.OrderID).ReadOnly().Doc("That of the order that started it."),
		field.Int("tenant", &s.Tenant).ReadOnly(),
		field.Int("plan", &s.PlanID).ReadOnly(),
		field.Text("plan_name", &s.PlanName).ReadOnly().Doc("As it was called when it was bought."),
		field.Text("billing_period", &s.BillingPeriod).Among("monthly", "yearly").ReadOnly(),
		field.Amount("price", &s.Price, 16, 4).ReadOnly().Doc("Of one period, tax included."),
		field.Text("currency", &s.Currency).ReadOnly(),
		field.Text("status", (*string)(&s.Status)).Among(billing.Statuses...).ReadOnly(),
		field.Time("period_start", &s.PeriodStart).ReadOnly(),
		field.Time("period_end", &s.PeriodEnd).ReadOnly().Doc("The first moment that is not paid for."),
		field.NullTime("due_at", &s.DueAt).ReadOnly().Doc("When the open invoice of the next period is due; null: there is none."),
		field.NullTime("suspended_at", &s.SuspendedAt).ReadOnly().Doc("Since when the service rests, because it is not paid; null: it does not."),
		field.NullUUID("payment_method", &s.SavedMethod).ReadOnly().Doc("The saved payment method that renewals are charged by; null: they are paid on a page."),
		field.NullTime("next_at", &s.NextAt).ReadOnly().Doc("When it goes on by itself: with an invoice, a reminder, a suspension or its end; null: it has ended."),
		field.Text("end_reason", &s.EndReason).ReadOnly().Doc("Why it has ended, such as refunded; blank until then."),
		field.Object("change", &s.change).Doc("A change of the plan that does not count yet; null: there is none."),
		field.Time("created_at", &s.CreatedAt).ReadOnly(),
		field.Time("updated_at", &s.UpdatedAt).ReadOnly(),
	}
}

// An invoice is what a tenant was billed.
type invoice struct {
	projections.Invoice
	seller     *seller // nil: it names none
	lines      []line
	mayPay     bool // the caller administers the tenant
	isOperator bool // the caller operates the installation
}

// newInvoice makes records for a caller.
func newInvoice(c route.Call) func(projections.Invoice) invoice {
	who := caller.Of(c)
	return func(row projections.Invoice) invoice { return invoiceFor(who, row) }
}

func invoiceFor(who caller.Identity, row projections.Invoice) invoice {
	i := invoice{Invoice: row, mayPay: who.Administers(), isOperator: who.IsSuperuser}
	if row.Seller != (billing.Seller{}) {
		i.seller = &seller{row.Seller}
	}
	for _, l := range row.Lines {
		i.lines = append(i.lines, newLine(l))
	}
	return i
}

// Tag changes with the invoice.
func (i *invoice) Tag() string {
	return record.Tag(billing.InvoiceCategory, i.ID.String(), i.Version)
}

// Fields are the invoice.
func (i *invoice) Fields() field.Set {
	details, paid := i.Details(), i.AmountPaid()
	return slices.Concat(field.Set{
		field.UUID("id", &i.ID).ReadOnly(),
		field.Text("number", &i.Number).ReadOnly().Doc("Of a series without gaps."),
		field.UUID("order", &i.OrderID).ReadOnly(),
		field.Int("tenant", &i.Tenant).ReadOnly(),
		field.Text("customer_name", &i.CustomerName).ReadOnly().Doc("Blank once it is erased. So is all that begins with customer_."),
		field.Text("customer_email", &i.CustomerEmail).ReadOnly(),
		field.Text("customer_company", &i.CustomerCompany).ReadOnly(),
	}, buyer.Shown(&details), field.Set{
		field.Object("seller", &i.seller).Doc("Who sold, at the moment of issue; null: the panel named none."),
		field.Objects("lines", &i.lines).Doc("What was billed. Their totals add up to that of the invoice."),
		field.Amount("subtotal", &i.Subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &i.Tax, 14, 2).ReadOnly(),
		field.Amount("tax_rate", &i.TaxRate, 5, 2).ReadOnly().Doc("Percent."),
	}, tax.Shown(&i.Treatment), field.Set{
		field.Amount("total", &i.Total, 14, 2).ReadOnly(),
		field.Text("currency", &i.Currency).ReadOnly(),
		field.Text("status", (*string)(&i.Status)).Among(billing.InvoiceStatuses...).ReadOnly().Doc("open: it has yet to be paid. withdrawn: it was credited before it was paid."),
		field.Amount("amount_paid", &paid, 14, 2).ReadOnly().Doc("Of the total. What a withdrawn invoice had is credit again."),
		field.Amount("amount_due", &i.AmountDue, 14, 2).ReadOnly().Doc("What has yet to be paid."),
		field.NullTime("due_at", &i.DueAt).ReadOnly().Doc("null: the order was paid before it was issued."),
		field.NullTime("paid_at", &i.PaidAt).ReadOnly().Doc("null: it is not paid, or its order was paid before it was issued."),
		field.Text("payment_method", &i.PaymentMethod).ReadOnly().Doc("By which it was paid; blank as long as paid_at is null."),
		field.Text("reference", &i.Reference).ReadOnly().When(i.isOperator).Doc("Of that payment in the books. Superusers alone are shown it."),
		field.Time("created_at", &i.CreatedAt).ReadOnly().Doc("When it was issued."),
		field.Time("updated_at", &i.UpdatedAt).ReadOnly(),
	})
}

// A seller is who sold.
type seller struct{ billing.Seller }

// Fields are the seller.
func (s *seller) Fields() field.Set {
	return field.Set{
		field.Text("name", &s.Name).ReadOnly(),
		field.Text("address", &s.Address).ReadOnly(),
		field.Text("city", &s.City).ReadOnly(),
		field.Text("postal_code", &s.PostalCode).ReadOnly(),
		field.Text("country", &s.Country).ReadOnly().Doc("Two capitals, as ISO 3166 has them."),
		field.Text("tax_id", &s.TaxID).ReadOnly(),
		field.Text("register", &s.Register).ReadOnly().Doc("Where the business is registered."),
		field.Text("iban", &s.IBAN).ReadOnly(),
		field.Text("bic", &s.BIC).ReadOnly(),
	}
}

// A line is a part of what is billed.
type line struct {
	billing.Line
	start, end *time.Time // nil: of no period
}

func newLine(l billing.Line) line {
	shown := line{Line: l}
	if !l.PeriodEnd.IsZero() {
		shown.start, shown.end = &l.PeriodStart, &l.PeriodEnd
	}
	return shown
}

// Fields are the line.
func (l *line) Fields() field.Set {
	return field.Set{
		field.Text("text", &l.Text).ReadOnly(),
		field.NullTime("period_start", &l.start).ReadOnly(),
		field.NullTime("period_end", &l.end).ReadOnly().Doc("The first moment that is not billed."),
		field.Amount("total", &l.Total, 14, 2).ReadOnly().Doc("Tax included."),
	}
}

// A creditNote is what a tenant was given back of an invoice.
type creditNote struct{ projections.CreditNote }

// Tag never changes, as credit notes never do.
func (n *creditNote) Tag() string { return record.Tag("credit-note", n.ID.String(), 1) }

// Fields are the credit note.
func (n *creditNote) Fields() field.Set {
	return slices.Concat(field.Set{
		field.UUID("id", &n.ID).ReadOnly(),
		field.Text("number", &n.Number).ReadOnly().Doc("Of a series without gaps."),
		field.Text("invoice", &n.Invoice).ReadOnly().Doc("The number of the invoice that it corrects."),
		field.UUID("order", &n.OrderID).ReadOnly(),
		field.Int("tenant", &n.Tenant).ReadOnly(),
		field.Text("refund", &n.Refund).ReadOnly().Doc("The provider's id of the refund, or of the dispute that was lost."),
		field.Amount("subtotal", &n.Subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &n.Tax, 14, 2).ReadOnly(),
		field.Amount("tax_rate", &n.TaxRate, 5, 2).ReadOnly().Doc("Percent."),
	}, tax.Shown(&n.Treatment), field.Set{
		field.Amount("total", &n.Total, 14, 2).ReadOnly(),
		field.Text("currency", &n.Currency).ReadOnly(),
		field.Time("created_at", &n.CreatedAt).ReadOnly().Doc("When it was issued."),
		field.Time("updated_at", &n.UpdatedAt).ReadOnly(),
	})
}
