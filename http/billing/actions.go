package billing

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

// What is done about invoices and subscriptions. Administrators pay and cancel; what moves
// no money through a provider is for superusers (docs/invoices.md, "Paying").

func (s *invoices) invoiceActions() []route.Route {
	return []route.Route{
		route.Post(invoicesPath+
			"{id:uuid}/pay/", "Get the page where an open invoice is paid", s.pay).As("invoice_pay").Of("Invoice").With(http.StatusOK).
			For(s.callers.TenantAdmin()).Finding(s.findInvoice).Caching("no-store").Resuming(s.resumePay).
			Saying("The customer is sent to payment_url. While a payment has begun, a repeat answers with the same order.").
			Failing(http.StatusConflict, notOpen).
			Failing(
				http.StatusServiceUnavailable,
				"The payment provider does not answer. The order waits, order_id names it: repeat the call.",
			),
		invoiceAction(s, "mark_paid", "Say that an open invoice was paid by other means", s.markPaid).
			Saying("The subscription is renewed as by any payment."),
		invoiceAction(s, "waive", "Withdraw an open invoice, and renew its subscription without a payment", s.waive).
			Saying("A credit note over the whole total closes the invoice."),
	}
}

const notOpen = "The invoice is paid, or was withdrawn (invoice_not_open)."

// invoiceAction declares what operators do with an invoice.
func invoiceAction[Q any, PQ interface {
	*Q
	field.Record
}](s *invoices, verb, summary string, do func(context.Context, route.Call, *invoice, PQ) error) route.Route {
	return route.Post(invoicesPath+"{id:uuid}/"+verb+"/", summary, func(ctx context.Context, c route.Call, q PQ) (*invoice, error) {
		if err := do(ctx, c, c.Subject.(*invoice), q); err != nil { //nolint:forcetypeassert // found by findInvoice
			return nil, err
		}
		return record.Shown(c, func() (*invoice, error) { return s.invoice(ctx, c) })
	}).As("invoice_"+
		verb).Of("Invoice").With(http.StatusOK).For(s.callers.Superuser()).Finding(s.findInvoice).Failing(http.StatusConflict, notOpen)
}

func (s *subscriptions) subscriptionActions() []route.Route {
	return []route.Route{
		subscriptionAction(s, "cancel", "End a subscription with the period that is paid for, or now", s.cancel).
			Saying("An open invoice of the next period is withdrawn. If the period is over, the service ends at once."),
		subscriptionAction(s, "resume", "Take the cancellation of a subscription back", s.resume),
		s.chooseRoute(),
	}
}

// subscriptionAction declares what administrators do with a subscription.
func subscriptionAction[Q any, PQ interface {
	*Q
	field.Record
}](s *subscriptions, verb, summary string, do func(context.Context, route.Call, *subscription, PQ) error) route.Route {
	return route.Post(subscriptionsPath+"{id:uuid}/"+verb+
		"/", summary, func(ctx context.Context, c route.Call, q PQ) (*subscription, error) {
		if err := do(ctx, c, c.Subject.(*subscription), q); err != nil { //nolint:forcetypeassert // found by findSubscription
			return nil, err
		}
		return record.Shown(c, func() (*subscription, error) { return s.subscription(ctx, c) })
	}).As("subscription_"+verb).Of("Subscription").With(http.StatusOK).For(s.callers.TenantAdmin()).Finding(s.findSubscription).
		Failing(http.StatusConflict, "The subscription has ended (invalid_state).")
}

// A payment says by which method an invoice is paid.
type payment struct {
	Method string
	Save   bool
}

// Fields are the request.
func (p *payment) Fields() field.Set {
	return field.Set{
		field.Text("payment_method", &p.Method).Max(32).Is(field.Plain).Default("").Doc(
			"One of those that are configured; blank: that of the last payment.",
		),
		field.Flag("save_payment_method", &p.Save).Default(false).Doc(
			"The caller agrees that the provider keeps the method, and that renewals are charged by it.",
		),
	}
}

// An invoicePayment is the order that pays an invoice.
type invoicePayment record.Payable

// Fields are the answer.
func (p *invoicePayment) Fields() field.Set {
	set := (*record.Payable)(p).Fields()
	set[0] = set[0].Doc("Of the order that pays the invoice.")
	return set
}

func (s *invoices) pay(ctx context.Context, c route.Call, p *payment) (*invoicePayment, error) {
	pay := order.BillPayment{Invoice: c.UUID("id"), Method: p.Method}
	if p.Save {
		if pay.KeepFor = caller.Of(c).Person(); pay.KeepFor == uuid.Nil {
			return nil, domain.RefuseField("save_payment_method", "Only members of the tenant can save a payment method.")
		}
	}
	return s.toPayment(ctx, c, pay)
}

// resumePay goes on with a payment whose first answer was never given, or was a 503.
func (s *invoices) resumePay(ctx context.Context, c route.Call, _ string) (route.Answer, error) {
	placed, err := s.toPayment(ctx, c, order.BillPayment{Invoice: c.UUID("id"), Resumed: true})
	if err != nil {
		return nil, err
	}
	return placed.Fields(), nil
}

// toPayment sends the customer of the invoice in the path to pay.
func (s *invoices) toPayment(ctx context.Context, c route.Call, pay order.BillPayment) (*invoicePayment, error) {
	placed, err := s.orders.PayInvoice(ctx, c.Cause, pay)
	if placed.ID != uuid.Nil {
		c.Correlate(placed.ID)
	}
	page, err := record.ToPay(ctx, s.callers.Log(), placed, err, s.unavailable)
	return (*invoicePayment)(page), err
}

// A settlement is how an invoice was paid without a provider.
type settlement struct{ Method, Reference string }

// Fields are the request.
func (p *settlement) Fields() field.Set {
	return field.Set{
		field.Text("payment_method", &p.Method).Required().Among(billing.ManualMethods...),
		field.Text("reference", &p.Reference).Required().Max(200).Is(field.Plain).Doc(
			"By which the payment is found in the books. It stands in the log.",
		),
	}
}

func (s *invoices) markPaid(ctx context.Context, c route.Call, i *invoice, p *settlement) error {
	return s.subscriptions.MarkPaid(ctx, causeOf(c, i), i.ID, p.Method, p.Reference)
}

// A waiver is nothing without a reason.
type waiver struct{ Reason string }

// Fields are the request.
func (w *waiver) Fields() field.Set {
	return field.Set{field.Text("reason", &w.Reason).Required().Max(500).Is(field.Plain).Doc("It stands in the log.")}
}

func (s *invoices) waive(ctx context.Context, c route.Call, i *invoice, w *waiver) error {
	return s.subscriptions.Waive(ctx, causeOf(c, i), i.ID, w.Reason)
}

// causeOf is who changes an invoice, in the version that they have seen.
func causeOf(c route.Call, i *invoice) domain.Metadata {
	return c.CauseOf(domain.Versions{billing.Pay{ID: i.ID}.Stream(): i.Version})
}

// A cancellation says when a subscription ends.
type cancellation struct{ At string }

// Fields are the request.
func (k *cancellation) Fields() field.Set {
	return field.Set{
		field.Text("at", &k.At).Among(atPeriodEnd, atOnce).Default(atPeriodEnd).Doc(
			"now: the service ends at once, and what the panel's settings say of unused time is refunded.",
		),
	}
}

const (
	atPeriodEnd = "period_end"
	atOnce      = "now"
)

func (s *subscriptions) cancel(ctx context.Context, c route.Call, sub *subscription, k *cancellation) error {
	if k.At == atOnce {
		return s.subscriptions.CancelNow(ctx, changeOf(c, sub), sub.OrderID)
	}
	return s.subscriptions.Cancel(ctx, changeOf(c, sub), sub.OrderID)
}

func (s *subscriptions) resume(ctx context.Context, c route.Call, sub *subscription, _ *route.Nothing) error {
	return s.subscriptions.KeepOn(ctx, changeOf(c, sub), sub.OrderID)
}

// changeOf is who changes a subscription, in the version that they have seen.
func changeOf(c route.Call, sub *subscription) domain.Metadata {
	return c.CauseOf(domain.Versions{billing.KeepOn{Order: sub.OrderID}.Stream(): sub.Version})
}
