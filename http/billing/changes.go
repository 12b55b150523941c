package billing

import (
	"context"
	"net/http"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/record"
	"hostpanel/http/route"
)

// Changes of the plan, and their previews (docs/invoices.md, "Changing the plan").

func (s *subscriptions) changeActions() []route.Route {
	const taken = "The subscription has ended or is cancelled, or its next period is billed (invalid_state)."
	return []route.Route{
		route.Post(subscriptionsPath+"{id:uuid}/preview/", "What a change of the plan would cost and do, without doing it", s.preview).
			As("subscription_preview").Of("Subscription").With(http.StatusOK).For(s.callers.TenantAdmin()).
			Finding(s.findSubscription).Caching("no-store").
			Saying("Amounts are those of an invoice that is issued now. A change within the same second brings the same ones.").
			Failing(http.StatusConflict, taken),
		route.Post(subscriptionsPath+"{id:uuid}/change/", "Change the plan, or the billing period", s.change).
			As("subscription_change").Of("Subscription").With(http.StatusOK).For(s.callers.TenantAdmin()).Finding(s.findSubscription).
			Saying("If there is a difference to pay, an invoice is issued, and the plan changes once it is paid. "+
				"Otherwise it changes at the end of the period. A later change replaces one that is pending; the "+
				"present plan and period take it back.").
			Failing(http.StatusConflict, taken),
	}
}

// A planWish is the plan and the billing period that are wanted.
type planWish struct {
	Plan          int64
	BillingPeriod string
}

// Fields are the request.
func (p *planWish) Fields() field.Set {
	return field.Set{
		field.Int("plan", &p.Plan).Required().Doc("One on offer, of the same resource type and currency."),
		field.Text("billing_period", &p.BillingPeriod).Required().Among("monthly", "yearly"),
	}
}

func (s *subscriptions) change(ctx context.Context, c route.Call, q *planWish) (*subscription, error) {
	if err := s.changeTo(ctx, c, c.Subject.(*subscription), q); err != nil { //nolint:forcetypeassert // found by findSubscription
		return nil, err
	}
	return record.Shown(c, func() (*subscription, error) { return s.subscription(ctx, c) })
}

func (s *subscriptions) changeTo(ctx context.Context, c route.Call, sub *subscription, q *planWish) error {
	return s.subscriptions.ChangePlan(ctx, changeOf(c, sub), sub.OrderID, q.Plan, q.BillingPeriod)
}

func (s *subscriptions) preview(ctx context.Context, c route.Call, q *planWish) (*changePreview, error) {
	sub := c.Subject.(*subscription) //nolint:forcetypeassert // found by findSubscription
	found, calls, err := s.subscriptions.PreviewChange(ctx, sub.OrderID, q.Plan, q.BillingPeriod)
	if err != nil {
		return nil, err
	}
	return previewOf(found, calls), nil
}

// A changePreview tells what a change would do.
type changePreview struct {
	billing.ChangePreview
	effect              string
	proration           *proration
	overruns            []overrun
	calls               []record.EngineCall
	isKnown             bool // the engine has told its calls
	subtotal, tax, cost decimal.Decimal
}

// The moments from which a change counts.
const (
	effectNow  = "now"
	effectEnd  = "period_end"
	effectNone = "none"
)

func previewOf(p billing.ChangePreview, calls []hosting.EngineCall) *changePreview {
	shown := &changePreview{
		ChangePreview: p, effect: effectEnd, isKnown: !p.Silent, subtotal: p.Invoice.Subtotal, tax: p.Invoice.Tax,
		cost: p.Invoice.Total,
	}
	switch {
	case len(p.Invoice.Lines) == 0:
		shown.effect = effectNone
	case p.Now:
		shown.effect = effectNow
	}
	if shown.effect != effectNone {
		shown.proration = &proration{p.Proration}
	}
	for _, o := range p.Over {
		shown.overruns = append(shown.overruns, overrun{o})
	}
	shown.calls = record.EngineCalls(calls)
	return shown
}

// Fields are the preview.
func (p *changePreview) Fields() field.Set {
	return field.Set{
		field.Int("plan", &p.To.Plan).ReadOnly(),
		field.Text("plan_name", &p.To.PlanName).ReadOnly(),
		field.Text("billing_period", &p.To.BillingPeriod).Among("monthly", "yearly").ReadOnly(),
		field.Amount("price", &p.To.Price, 16, 4).ReadOnly().Doc("Of one period, tax included."),
		field.Text("currency", &p.Currency).ReadOnly(),
		field.Text("effect", &p.effect).Among(effectNow, effectEnd, effectNone).ReadOnly().
			Doc("now: once the invoice is paid. period_end: with the next period. none: the subscription has this plan."),
		field.Time("starts_at", &p.StartsAt).ReadOnly().Doc("From when the plan counts."),
		field.NullTime("pay_until", &p.PayUntil).ReadOnly().Doc(
			"When the invoice is withdrawn if it is not paid; null: nothing is to be paid now.",
		),
		field.Object("proration", &p.proration).Doc("null: nothing changes."),
		field.Objects("lines", &p.Invoice.Lines).Doc("Of the invoice that the change brings: now, or for the next period."),
		field.Amount("subtotal", &p.subtotal, 14, 2).ReadOnly(),
		field.Amount("tax", &p.tax, 14, 2).ReadOnly(),
		field.Amount("tax_rate", &p.Invoice.TaxRate, 5, 2).ReadOnly().Doc("Percent."),
		field.Amount("total", &p.cost, 14, 2).ReadOnly(),
		field.Objects("exceeded", &p.overruns).Doc(
			"Limits of the plan that are lower than what is used. With any of them the change is refused.",
		),
		field.Objects("engine_calls", &p.calls).Doc("What would be changed at the hosting engine, in its words."),
		field.Flag("engine_answers", &p.isKnown).ReadOnly().Doc(
			"false: the hosting engine does not answer now, so engine_calls is not known.",
		),
	}
}

// A proration is what the parts of a change are worth.
type proration struct{ billing.Proration }

// Fields are the proration.
func (p *proration) Fields() field.Set {
	due := decimal.Max(p.Due(), decimal.Zero)
	return field.Set{
		field.Time("from", &p.At).ReadOnly(),
		field.Time("unused_until", &p.UnusedUntil).ReadOnly().Doc("The end of what is paid for now."),
		field.Amount("charge", &p.Charge, 14, 2).ReadOnly().Doc(
			"Of the new plan: for the rest of the period, or for a whole one if that begins now.",
		),
		field.Amount("credit", &p.Credit, 14, 2).ReadOnly().Doc("For the unused time of the present plan."),
		field.Amount("due", &due, 14, 2).ReadOnly().Doc(
			"The difference, or 0 if the credit is not less: then the change waits for the end of the period.",
		),
	}
}

// An overrun is a limit that is lower than what is used.
type overrun struct{ billing.Overrun }

// Fields are the overrun.
func (o *overrun) Fields() field.Set {
	return field.Set{
		field.Text("limit", &o.Limit).ReadOnly().Doc("Such as sites."),
		field.Int("used", &o.Used).ReadOnly(),
		field.Int("most", &o.Most).ReadOnly(),
	}
}
