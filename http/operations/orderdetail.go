package operations

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
	"hostpanel/http/record"
	"hostpanel/projections"
)

// An orderDetail is an order with all that came of it, as operators see it.
type orderDetail struct {
	projections.Order
	status projections.OrderView // what its customer is told
	money  order.Order           // as its events amount to
	file   projections.OrderFile
	detail operations.OrderDetail

	Steps    []stepEntry
	Timeline []operations.Happening
	Refunds  []refundEntry
	Disputes []disputeEntry
	Credited []creditEntry
}

func newOrderDetail(f projections.OrderFile, d operations.OrderDetail) *orderDetail {
	o := &orderDetail{Order: f.Order, file: f, detail: d}
	for _, fact := range d.Events {
		if e, is := fact.Event.(order.Event); is {
			o.money = order.Decider.Evolve(o.money, e)
		}
	}
	o.Steps, o.Timeline = stepsOf(d), d.Timeline()
	o.Refunds, o.Disputes = o.refunds(), o.disputes()
	for _, n := range f.CreditNotes {
		o.Credited = append(o.Credited, creditEntry{n})
	}
	o.status = projections.OrderView{
		Status: f.Status, Settling: f.Settling, Holds: f.Holds, CancelRequested: f.CancelRequested, Language: f.Language,
		FailedStep: f.FailedStep,
	}
	o.status.Explain(o.stepNow())
	return o
}

// stepNow is the step at which the setup of the order stands; "": the first.
func (o *orderDetail) stepNow() string {
	for _, r := range o.detail.Runs {
		if r.Kind == provisionKind {
			return r.At()
		}
	}
	return ""
}

// Fields are the order's file.
func (o *orderDetail) Fields() field.Set {
	warnings, prefix, details := projections.NamesOf(o.Warnings), o.keyPrefix(), o.Details()
	var user *int64
	if o.detail.User != 0 {
		user = &o.detail.User
	}
	return slices.Concat(o.Order.Fields(), field.Set{
		field.Texts("warnings", &warnings, nil).ReadOnly().Doc("What went wrong without stopping it."),
		field.Text("status_message", &o.status.StatusMessage).ReadOnly().Doc("What its customer is told."),
		field.Amount("price", &o.PeriodPrice, 16, 4).ReadOnly(),
		field.Amount("setup_fee", &o.SetupFee, 16, 4).ReadOnly(),
		field.Amount("tax_rate", &o.TaxRate, 5, 2).ReadOnly(),
	}, tax.Shown(&o.Treatment), field.Set{
		field.Amount("subtotal", &o.Subtotal, 14, 2).ReadOnly(),
		field.Text("customer_phone", &o.CustomerPhone).ReadOnly(),
		field.Text("customer_company", &o.CustomerCompany).ReadOnly(),
	}, buyer.Shown(&details), field.Set{
		field.Text("domain", &o.Domain).ReadOnly(),
		field.Text("os_choice", &o.OSChoice).ReadOnly(),
		field.Text("language", &o.Language).ReadOnly(),
		field.Text("widget_id", &o.WidgetID).ReadOnly(),
		field.Text("api_key_prefix", &prefix).ReadOnly(),
		field.NullInt("user", &user).ReadOnly().Doc("The customer's account."),
		field.Within("payment", true, o.payment),
		field.Objects("refunds", &o.Refunds).Doc("Money that has gone back, or is to."),
		field.Objects("disputes", &o.Disputes).Doc("Payments that the customer's bank has claimed back."),
		field.Within("resource", len(o.file.Resources) > 0, o.resource),
		field.Within("subscription", o.file.Subscription != nil, o.subscription),
		field.Within("invoice", o.file.Invoice != nil, o.invoice),
		field.Objects("steps", &o.Steps).Doc("Of its setup."),
		field.Objects("timeline", &o.Timeline).Doc("All that has happened, in plain words."),
	})
}

// Tag changes with everything that the file shows.
func (o *orderDetail) Tag() string {
	return record.Tag(order.Category, o.ID.String(), o.Version) + "." + record.Fingerprint(o.Fields())
}

func (o *orderDetail) keyPrefix() string {
	mode := storefront.Live
	if o.Test {
		mode = storefront.Test
	}
	return storefront.Prefix(mode, o.APIKey)
}

// payment is the one that the order runs on, or else the last that is known.
func (o *orderDetail) payment() field.Set {
	var amount *decimal.Decimal
	if p, known := o.money.Payments[o.PaymentID]; known {
		paid := money.Major(p.Minor, p.Currency)
		amount = &paid
	}
	status, refunded := string(o.PaymentStatus), money.Major(o.money.Returned(o.PaymentID), o.Currency)
	return field.Set{
		field.Text("provider", &o.PaymentMethod).ReadOnly(),
		field.Text("session_id", &o.SessionID).ReadOnly(),
		field.Text("payment_id", &o.PaymentID).ReadOnly(),
		field.Text("status", &status).ReadOnly().Doc("created, pending, declined, failed or paid; empty: there is none."),
		field.NullAmount("amount", &amount, 14, 2).ReadOnly(),
		field.Amount("refunded", &refunded, 14, 2).ReadOnly().Doc("What has gone back of it, or was lost."),
	}
}

// A refundEntry is money that has gone back, or is to.
type refundEntry struct {
	order.SeenRefund
	amount decimal.Decimal
}

// Fields are the refund.
func (r *refundEntry) Fields() field.Set {
	number, currency := int64(r.N), strings.ToUpper(r.Currency)
	return field.Set{
		field.Int("number", &number).ReadOnly().Doc("Of the decision; 0: made at the provider itself."),
		field.Text("id", &r.ID).ReadOnly().Doc("The provider's; empty: it has none yet."),
		field.Text("payment_id", &r.Payment).ReadOnly(),
		field.Text("status", (*string)(&r.State)).Among("requested", "pending", "succeeded", "failed").ReadOnly(),
		field.Amount("amount", &r.amount, 14, 2).ReadOnly(),
		field.Text("currency", &currency).ReadOnly(),
	}
}

// refunds are those that were decided on, and those that were made at the
// provider itself.
func (o *orderDetail) refunds() []refundEntry {
	back := o.money.MoneyBack()
	all := make([]refundEntry, len(back))
	for i, r := range back {
		all[i] = refundEntry{r, money.Major(r.Minor, r.Currency)}
	}
	return all
}

// A disputeEntry is a payment that the customer's bank has claimed back.
type disputeEntry struct {
	order.SeenDispute
	amount decimal.Decimal
}

// Fields are the dispute.
func (d *disputeEntry) Fields() field.Set {
	currency := strings.ToUpper(d.Currency)
	return field.Set{
		field.Text("id", &d.ID).ReadOnly(),
		field.Text("payment_id", &d.Payment).ReadOnly(),
		field.Text("status", (*string)(&d.State)).Among("open", "won", "lost").ReadOnly(),
		field.Amount("amount", &d.amount, 14, 2).ReadOnly(),
		field.Text("currency", &currency).ReadOnly(),
	}
}

func (o *orderDetail) disputes() []disputeEntry {
	claimed := o.money.Claimed()
	all := make([]disputeEntry, len(claimed))
	for i, d := range claimed {
		all[i] = disputeEntry{d, money.Major(d.Minor, d.Currency)}
	}
	return all
}

// resource is what the customer got: the tenant, and a server where one was
// bought.
func (o *orderDetail) resource() field.Set {
	var tenant, vm *int64
	var external string
	for i := range o.file.Resources {
		r := &o.file.Resources[i]
		switch kind, _ := hosting.KindNamed(r.Kind); {
		case kind.Owner:
			tenant = &r.ID
			if external == "" && r.EngineID != nil {
				external = strconv.FormatInt(*r.EngineID, 10)
			}
		case kind.Backend == hosting.Compute:
			vm, external = &r.ID, r.External
		}
	}
	return field.Set{
		field.Text("type", &o.ResourceType).ReadOnly(),
		field.NullInt("tenant", &tenant).ReadOnly(),
		field.NullInt("vm_id", &vm).ReadOnly(),
		field.Text("external_id", &external).ReadOnly().Doc("The hypervisor's id of the server, or the engine's of the tenant."),
	}
}

func (o *orderDetail) subscription() field.Set {
	s := o.file.Subscription
	if s == nil {
		s = &projections.Subscription{}
	}
	return field.Set{
		field.Text("status", (*string)(&s.Status)).ReadOnly(),
		field.Time("period_start", &s.PeriodStart).ReadOnly(),
		field.Time("period_end", &s.PeriodEnd).ReadOnly(),
	}
}

func (o *orderDetail) invoice() field.Set {
	i := o.file.Invoice
	if i == nil {
		i = &projections.Invoice{}
	}
	return field.Set{
		field.Text("number", &i.Number).ReadOnly(),
		field.Text("status", (*string)(&i.Status)).ReadOnly(),
		field.Time("issued_at", &i.CreatedAt).ReadOnly(),
		field.Amount("subtotal", &i.Subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &i.Tax, 14, 2).ReadOnly(),
		field.Amount("total", &i.Total, 14, 2).ReadOnly(),
		field.Objects("credit_notes", &o.Credited).Doc("What was credited of it, the oldest first."),
	}
}

// A creditEntry is what was credited of an invoice.
type creditEntry struct{ projections.CreditNote }

// Fields are the credit note.
func (n *creditEntry) Fields() field.Set {
	return field.Set{
		field.Text("number", &n.Number).ReadOnly(),
		field.Text("refund", &n.Refund).ReadOnly().Doc("The provider's id of the refund, or of the dispute that was lost."),
		field.Time("issued_at", &n.CreatedAt).ReadOnly(),
		field.Amount("subtotal", &n.Subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &n.Tax, 14, 2).ReadOnly(),
		field.Amount("total", &n.Total, 14, 2).ReadOnly(),
	}
}
