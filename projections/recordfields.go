package projections

import (
	"slices"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
)

// Descriptions of records: answers of the API, tables of pages and those of the console show
// their fields. Columns has what tables need besides; what [field.Field.When] hides of them,
// no program reads.

// Tag names a version of a record: "plan-3-2".
func Tag(sort, id string, version int) string { return sort + "-" + id + "-" + strconv.Itoa(version) }

// NamesOf are the words of a list; never null.
func NamesOf[T ~string](all []T) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return names
}

// OrderStatuses are those of an order, as the API lists them.
var OrderStatuses = []string{
	string(order.StatusPending), string(order.StatusPaymentProcessing), string(order.StatusPaid), string(order.StatusProvisioning),
	string(order.StatusActive), string(order.StatusFailed), string(order.StatusCancelled), string(order.StatusRefunded),
}

// Fields are the order in a list, as operators see it.
func (o *Order) Fields() field.Set {
	holds := NamesOf(o.Holds)
	return field.Set{
		field.UUID("id", &o.ID).ReadOnly(),
		field.Text("order_number", &o.OrderNumber).ReadOnly().Headed("order"),
		field.Text("status", (*string)(&o.Status)).Among(OrderStatuses...).ReadOnly().Worded("order_"),
		field.Texts("holds", &holds, nil).ReadOnly().Doc("Why a person has to look at it.").Headed("stopped at").Worded("hold_").Fault(),
		field.Text("customer_email", &o.CustomerEmail).ReadOnly().Headed("customer"),
		field.Text("customer_name", &o.CustomerName).ReadOnly(),
		field.Ref("plan", &o.PlanID).ReadOnly(),
		field.Text("plan_name", &o.PlanName).ReadOnly().Headed("plan").Labelled("order_plan"),
		field.Amount("total", &o.Total, 14, 2).ReadOnly().In(&o.Currency).Labelled("order_total"),
		field.Text("currency", &o.Currency).ReadOnly(),
		field.Text("payment_method", &o.PaymentMethod).ReadOnly().Headed("paid by").Labelled("order_method"),
		field.Text("billing_period", (*string)(&o.BillingPeriod)).ReadOnly().Labelled("order_period").Worded("period_"),
		field.Text("failed_step", &o.FailedStep).ReadOnly().Doc("At which its setup has stopped."),
		field.Time("created_at", &o.CreatedAt).ReadOnly().Headed("placed").Labelled("order_placed"),
		field.Time("updated_at", &o.UpdatedAt).ReadOnly().Labelled("order_changed"),
	}
}

// Columns are the order with what its page and the console show besides.
func (o *Order) Columns() field.Set {
	warnings, address := NamesOf(o.Warnings), o.AddressLine()
	return append(o.Fields(),
		field.Texts("warnings", &warnings, nil),
		field.Text("domain", &o.Domain).Labelled("order_domain"),
		field.Text("failed_code", &o.FailedCode),
		field.Text("customer_company", &o.CustomerCompany).Labelled("order_company").When(false),
		field.Text("customer_address", &address).Labelled("order_address").When(false),
		field.Text("customer_tax_id", &o.CustomerTaxID).Labelled("order_tax_id").When(false),
		field.Text("customer_phone", &o.CustomerPhone).Labelled("order_phone").When(false),
		field.Text("os_choice", &o.OSChoice).Labelled("order_os").When(false),
		field.Text("payment_id", &o.PaymentID).Labelled("order_payment").When(false),
		field.Text("payment_status", (*string)(&o.PaymentStatus)).Labelled("order_payment_status").Worded("payment_is_").When(false))
}

// Tag changes with the subscription.
func (s *Subscription) Tag() string {
	return Tag(billing.SubscriptionCategory, s.OrderID.String(), s.Version)
}

// Fields are the subscription.
func (s *Subscription) Fields() field.Set {
	var change *PlanChange
	if s.ChangePlanID != nil {
		change = &s.PlanChange
	}
	return field.Set{
		field.UUID("id", &s.OrderID).ReadOnly().Doc("That of the order that started it."),
		field.Int("tenant", &s.Tenant).ReadOnly(),
		field.Int("plan", &s.PlanID).ReadOnly(),
		field.Text("plan_name", &s.PlanName).ReadOnly().Doc("As it was called when it was bought.").Headed("plan"),
		field.Text("billing_period", &s.BillingPeriod).Among("monthly", "yearly").ReadOnly().Worded("period_"),
		field.Amount("price", &s.Price, 16, 4).ReadOnly().
			Doc("Of one period, tax included.").In(&s.Currency).Labelled("subscription_price"),
		field.Text("currency", &s.Currency).ReadOnly(),
		field.Text("status", (*string)(&s.Status)).Among(billing.Statuses...).ReadOnly().Worded("subscription_state_"),
		field.Time("period_start", &s.PeriodStart).ReadOnly(),
		field.Time("period_end", &s.PeriodEnd).ReadOnly().
			Doc("The first moment that is not paid for.").Headed("paid until").Labelled("subscription_until"),
		field.NullTime("due_at", &s.DueAt).ReadOnly().Doc("When the open invoice of the next period is due; null: there is none."),
		field.NullTime("suspended_at", &s.SuspendedAt).ReadOnly().
			Doc("Since when the service rests, because it is not paid; null: it does not."),
		field.NullUUID("payment_method", &s.SavedMethod).ReadOnly().
			Doc("The saved payment method that renewals are charged by; null: they are paid on a page."),
		field.NullTime("next_at", &s.NextAt).ReadOnly().Headed("next step").
			Doc("When it goes on by itself: with an invoice, a reminder, a suspension or its end; null: it has ended."),
		field.Text("end_reason", &s.EndReason).ReadOnly().Doc("Why it has ended, such as refunded; blank until then."),
		field.Object("change", &change).Doc("A change of the plan that does not count yet; null: there is none."),
		field.Time("created_at", &s.CreatedAt).ReadOnly().Labelled("subscription_begun"),
		field.Time("updated_at", &s.UpdatedAt).ReadOnly(),
	}
}

// Columns name the order by which the console finds the subscription.
func (s *Subscription) Columns() field.Set {
	return append(s.Fields(), field.UUID("order", &s.OrderID))
}

// Fields are the change, if there is one.
func (p *PlanChange) Fields() field.Set {
	c := *p
	if c.ChangePlanID == nil {
		c = PlanChange{new(int64), new(string), new(string), new(decimal.Decimal), nil, new(time.Time)}
	}
	return field.Set{
		field.Int("plan", c.ChangePlanID).ReadOnly(),
		field.Text("plan_name", c.ChangePlanName).ReadOnly(),
		field.Text("billing_period", c.ChangePeriod).Among("monthly", "yearly").ReadOnly(),
		field.Amount("price", c.ChangePrice, 16, 4).ReadOnly().Doc("Of one period, as it was when the change was asked for."),
		field.NullUUID("invoice", &c.ChangeInvoice).ReadOnly().
			Doc("That has to be paid for it; null: it waits for the end of the period."),
		field.Time("at", c.ChangeAt).ReadOnly().Doc("Until when the invoice has to be paid, or from when the change counts."),
	}
}

// Tag changes with the invoice.
func (i *Invoice) Tag() string { return Tag(billing.InvoiceCategory, i.ID.String(), i.Version) }

// Fields are the invoice. Its reference is for superusers alone.
func (i *Invoice) Fields() field.Set {
	details, paid := i.Details(), i.AmountPaid()
	var seller *billing.Seller
	if i.Seller != (billing.Seller{}) {
		seller = &i.Seller
	}
	return slices.Concat(field.Set{
		field.UUID("id", &i.ID).ReadOnly(),
		field.Text("number", &i.Number).ReadOnly().Doc("Of a series without gaps.").Headed("invoice"),
		field.UUID("order", &i.OrderID).ReadOnly(),
		field.Int("tenant", &i.Tenant).ReadOnly(),
		field.Text("customer_name", &i.CustomerName).ReadOnly().
			Doc("Blank once it is erased. So is all that begins with customer_.").Labelled("invoice_name"),
		field.Text("customer_email", &i.CustomerEmail).ReadOnly().Labelled("invoice_email"),
		field.Text("customer_company", &i.CustomerCompany).ReadOnly().Labelled("invoice_company"),
	}, buyer.Shown(&details), field.Set{
		field.Object("seller", &seller).Doc("Who sold, at the moment of issue; null: the panel named none."),
		field.Objects("lines", &i.Lines).Doc("What was billed. Their totals add up to that of the invoice."),
		field.Amount("subtotal", &i.Subtotal, 14, 2).ReadOnly().In(&i.Currency).Labelled("invoice_subtotal"),
		field.Amount("tax", &i.Tax, 14, 2).ReadOnly().In(&i.Currency),
		field.Amount("tax_rate", &i.TaxRate, 5, 2).ReadOnly().Doc("Percent."),
	}, tax.Shown(&i.Treatment), field.Set{
		field.Amount("total", &i.Total, 14, 2).ReadOnly().In(&i.Currency).Labelled("invoice_total"),
		field.Text("currency", &i.Currency).ReadOnly(),
		field.Text("status", (*string)(&i.Status)).Among(billing.InvoiceStatuses...).ReadOnly().Worded("invoice_state_").
			Doc("open: it has yet to be paid. withdrawn: it was credited before it was paid."),
		field.Amount("amount_paid", &paid, 14, 2).ReadOnly().Doc("Of the total. What a withdrawn invoice had is credit again.").
			In(&i.Currency).Labelled("invoice_amount_paid"),
		field.Amount("amount_due", &i.AmountDue, 14, 2).ReadOnly().
			Doc("What has yet to be paid.").In(&i.Currency).Labelled("invoice_amount_due"),
		field.NullTime("due_at", &i.DueAt).ReadOnly().
			Doc("null: the order was paid before it was issued.").Headed("due").Labelled("invoice_due"),
		field.NullTime("paid_at", &i.PaidAt).ReadOnly().
			Doc("null: it is not paid, or its order was paid before it was issued.").Labelled("invoice_paid"),
		field.Text("payment_method", &i.PaymentMethod).ReadOnly().
			Doc("By which it was paid; blank as long as paid_at is null.").Headed("paid by"),
		field.Text("reference", &i.Reference).ReadOnly().Doc("Of that payment in the books. Superusers alone are shown it."),
		field.Time("created_at", &i.CreatedAt).ReadOnly().Doc("When it was issued.").Headed("issued").Labelled("invoice_issued"),
		field.Time("updated_at", &i.UpdatedAt).ReadOnly(),
	})
}

// Tag never changes, as credit notes never do.
func (n *CreditNote) Tag() string { return Tag("credit-note", n.ID.String(), 1) }

// Fields are the credit note.
func (n *CreditNote) Fields() field.Set {
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
		field.Amount("total", &n.Total, 14, 2).ReadOnly().In(&n.Currency),
		field.Text("currency", &n.Currency).ReadOnly(),
		field.Time("created_at", &n.CreatedAt).ReadOnly().Doc("When it was issued."),
		field.Time("updated_at", &n.UpdatedAt).ReadOnly(),
	})
}

// Fields are what was billed in a month.
func (t *InvoiceTotal) Fields() field.Set {
	month := t.Month.UTC().Format("2006-01")
	return field.Set{
		field.Text("month", &month).ReadOnly().Doc("Of issue, in UTC: 2026-11."),
		field.Text("currency", &t.Currency).ReadOnly(),
		field.Flag("test_money", &t.Test).ReadOnly().Doc("Whether no real money was meant."),
		field.Int("invoices", &t.Invoices).ReadOnly(),
		field.Amount("total", &t.Total, 16, 2).ReadOnly().Doc("Tax included."),
		field.Amount("tax", &t.Tax, 16, 2).ReadOnly().Doc("Of the total."),
		field.Amount("unpaid", &t.Unpaid, 16, 2).ReadOnly().Doc("Of the total."),
		field.Amount("credited", &t.Credited, 16, 2).ReadOnly().Doc("By credit notes of that month, whatever the month of their invoice."),
		field.Amount("received", &t.Received, 16, 2).ReadOnly().
			Doc("Booked in that month without a provider, less what was reversed in it."),
		field.Amount("paid_out", &t.PaidOut, 16, 2).ReadOnly().Doc("Of credit, in that month."),
	}
}

// Columns tell test money from other.
func (t *InvoiceTotal) Columns() field.Set {
	money := t.Currency
	if t.Test {
		money += " (test)"
	}
	return append(t.Fields(), field.Flag(string(storefront.Test), &t.Test), field.Text("money", &money).When(false))
}

// Fields are the account as operators see it, less its memberships.
func (u *User) Fields() field.Set {
	return field.Set{
		field.Int("id", &u.ID).ReadOnly().Headed("user"),
		field.Text("username", &u.Email).ReadOnly().Doc("The address."),
		field.Text("email", &u.Email).Required().Is(field.Email).Headed("address"),
		field.Text("name", &u.Name).Max(200).Is(field.Plain).Default("").Labelled("label_name"),
		field.Text("language", &u.Language).Spoken().Labelled("label_language").Worded("language_"),
		field.Flag("is_superuser", &u.IsSuperuser).Default(false).Worded("superuser_"),
		field.Flag("is_active", &u.IsActive).Default(true).Worded("user_is_"),
		field.Flag("has_second_factor", &u.SecondFactor).ReadOnly().
			Doc("Whether a sign-in needs a code beside the password.").Labelled("user_factor").Worded("is_"),
		field.NullRef("active_tenant", &u.ActiveTenant).Default(nil).Doc("One of the memberships; a superuser's may be any tenant."),
		field.NullTime("last_login_at", &u.LastLoginAt).ReadOnly().Labelled("user_last_login"),
		field.NullTime("email_refused_at", &u.EmailRefusedAt).ReadOnly().Labelled("user_refused").
			Doc("Since when the address has been refused by mail servers: notifications are not mailed to it."),
		field.Time("created_at", &u.CreatedAt).ReadOnly().Headed("opened").Labelled("user_opened"),
		field.Time("updated_at", &u.UpdatedAt).ReadOnly().Labelled("order_changed"),
	}
}

// Columns tell what the account may do, and how it stands.
func (u *User) Columns() field.Set {
	may, state, never := "own tenants", u.State(), "never"
	if u.IsSuperuser {
		may = "everything"
	}
	if u.LastLoginAt != nil {
		never = u.LastLoginAt.UTC().Format("2006-01-02 15:04:05")
	}
	return append(u.Fields(), field.Flag("has_password", &u.HasPassword).Labelled("user_password").Worded("is_"),
		field.Text("may", &may).When(false), field.Text("state", &state).Worded("user_state_").When(false),
		field.Text("last_sign_in", &never).Headed("last sign-in (UTC)").When(false))
}

// State is how the account stands: erased, closed, waiting for a password, or active.
func (u *User) State() string {
	switch {
	case u.Email == "":
		return "erased"
	case !u.IsActive:
		return "closed"
	case !u.HasPassword:
		return "waiting"
	}
	return "active"
}

// Fields are what a user may do for a tenant.
func (m *Membership) Fields() field.Set {
	return field.Set{
		field.Int("tenant", &m.Tenant).ReadOnly(),
		field.Text("tenant_name", &m.TenantName).ReadOnly(),
		RoleField(&m.Role),
	}
}

// RoleField is what a user is in a tenant.
func RoleField(at *account.Role) field.Field {
	return field.Text("role", (*string)(at)).Among(string(account.Member), string(account.Admin)).Default(string(account.Member))
}
