package billing

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/hosting"
	"hostpanel/domain/texts"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The page on which an administrator changes the plan: first it asks for the plan, then it
// shows what the change would do, and its button does that (docs/panel.md).

const changeForm = "change_subscription"

func (s *subscriptions) changePages() []route.Route {
	const path = web.SubscriptionsPath + "{id:uuid}/change/"
	page := web.FormPage{Show: s.showChange, Forms: map[string]web.FormHandler{changeForm: s.changeByForm}}
	admins := caller.AdminSession(s.callers)
	return []route.Route{
		web.View(path, "What a change of the plan would cost and do", page.Look).As("subscription_change_page").
			Of("Subscription").For(admins),
		s.web.Press(path, "Change the plan of a subscription", page).As("subscription_change_form").Of("Subscription").For(admins),
	}
}

// changeByForm carries the change out, and leads to the invoice that has to be paid for it.
func (s *subscriptions) changeByForm(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	_, _, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) error {
		sub, err := s.subscription(ctx, c)
		if err != nil {
			return err
		}
		wanted := new(planWish)
		if err := web.DecodeForm(wanted, sent); err != nil {
			return err
		}
		return s.changeTo(ctx, c, sub, wanted)
	})
	if err != nil {
		return nil, err
	}
	sub, err := s.subscription(ctx, c)
	if err != nil {
		return nil, err
	}
	if sub.ChangeInvoice != nil {
		return s.web.Done(web.InvoicesPath+sub.ChangeInvoice.String()+"/", "change_invoiced"), nil
	}
	return s.web.Done(web.SubscriptionsPath+sub.OrderID.String()+"/", changeForm), nil
}

// showChange is the page. What forbids the change is said on it.
func (s *subscriptions) showChange(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	sub, err := s.subscription(ctx, c)
	if err != nil {
		return nil, err
	}
	wanted, asked := wishOf(c, back, sub)
	w := web.Texts[web.Readers(c)]
	data := map[string]any{
		"Title": w["change_title"], "Path": web.SubscriptionsPath + sub.OrderID.String() + "/", "Action": c.Path, "Wide": true,
		"Now": cardOf(c, sub.Subscription), "IsMachine": false,
	}
	if data["Choices"], err = s.planChoices(ctx, c, w, sub, wanted); err != nil {
		return nil, err
	}
	if asked {
		if err := s.addPreview(ctx, c, sub, wanted, back, data); err != nil {
			return nil, err
		}
	}
	return s.web.Sheet(c, back.StatusOf(), "subscription_change", "change_title", data)
}

// wishOf is the plan that the address or a returned form names, or else the present one.
func wishOf(c route.Call, back *web.Returned, sub *subscription) (wanted planWish, asked bool) {
	plan, cycle := c.Param("plan"), c.Param("billing_period")
	if back != nil {
		plan, cycle = back.Sent.Get("plan"), back.Sent.Get("billing_period")
	}
	id, err := strconv.ParseInt(plan, 10, 64)
	if err != nil || cycle != "monthly" && cycle != "yearly" {
		return planWish{sub.PlanID, sub.BillingPeriod}, false
	}
	return planWish{id, cycle}, true
}

// planChoices are the plans of the same sort that are on offer, and the billing periods.
func (s *subscriptions) planChoices(
	ctx context.Context, c route.Call, w web.Words, sub *subscription, wanted planWish,
) ([]web.Filter, error) {
	bought, err := s.callers.System().Orders().Order(ctx, sub.OrderID)
	if err != nil {
		return nil, err
	}
	offered, err := s.callers.System().Orders().Plans(ctx, bought.ResourceType)
	if err != nil {
		return nil, err
	}
	plans := web.Filter{Name: "plan", Label: w["change_plan"], Value: strconv.FormatInt(wanted.Plan, 10)}
	for _, p := range offered {
		if p.Currency == sub.Currency {
			plans.Options = append(
				plans.Options,
				web.Option{
					Value: strconv.FormatInt(p.ID, 10),
					Text:  p.In(web.Readers(c)).Name + " · " + w.Money(p.Price, p.Currency) + " / " + w["change_month"],
				},
			)
		}
	}
	periods := web.Filter{Name: "billing_period", Label: w["change_period"], Value: wanted.BillingPeriod}
	for _, cycle := range []string{"monthly", "yearly"} {
		periods.Options = append(periods.Options, web.Option{Value: cycle, Text: w["period_"+cycle]})
	}
	return []web.Filter{plans, periods}, nil
}

// addPreview shows what the change would do, or why it cannot be.
func (s *subscriptions) addPreview(
	ctx context.Context, c route.Call, sub *subscription, wanted planWish, back *web.Returned, data map[string]any,
) error {
	w, language := web.Texts[web.Readers(c)], web.Readers(c)
	found, calls, err := s.subscriptions.PreviewChange(ctx, sub.OrderID, wanted.Plan, wanted.BillingPeriod)
	if refusal, is := errors.AsType[*domain.Error](err); is && refusal.Code != domain.NotFound {
		data["Refusal"] = web.Translated(language, refusal.Message)
		return nil
	}
	if err != nil {
		return err
	}
	p := previewOf(found, calls)
	data["Effect"] = texts.Say(
		language, "page.change_effect_"+p.effect, "plan", p.To.PlanName, "day", w.Date(p.StartsAt), "until",
		w.Date(until(p)), "amount", w.Money(p.cost, p.Currency),
	)
	if p.effect == effectNone && sub.ChangePlanID == nil {
		return nil
	}
	data["Lines"], data["Overruns"] = previewLines(w, p), previewOverruns(language, found)
	if p.effect != effectNone {
		data["Sums"] = []web.Aspect{
			{Name: w["invoice_subtotal"], Text: w.Money(p.subtotal, p.Currency)},
			{Name: w["invoice_tax"] + " (" + texts.Percent(language, p.Invoice.TaxRate) + ")", Text: w.Money(p.tax, p.Currency)},
			{Name: w["invoice_total"], Text: w.Money(p.cost, p.Currency)},
		}
	}
	data["Calls"], data["Silent"], data["IsMachine"] = calls, p.Silent, p.To.SizesMachine()
	if len(found.Over) > 0 && p.effect != effectNone {
		data["Effect"] = w["change_over_about"]
	} else {
		form := s.web.Fill(c, web.Form{Name: changeForm, Action: c.Path, Inputs: []web.Input{
			{Name: "plan", Type: "hidden", Value: strconv.FormatInt(wanted.Plan, 10)},
			{Name: "billing_period", Type: "hidden", Value: wanted.BillingPeriod},
			web.NumberInput(),
		}}, back)
		data["Form"] = &form
	}
	return nil
}

func until(p *changePreview) time.Time {
	if p.PayUntil == nil {
		return p.StartsAt
	}
	return *p.PayUntil
}

func previewLines(w web.Words, p *changePreview) (cards []web.Card) {
	for _, l := range p.Invoice.Lines {
		cards = append(cards, lineCard(w, document.Line{Line: l}, p.Currency))
	}
	return cards
}

// previewOverruns are the limits that are too low, with what is used.
func previewOverruns(language string, p billing.ChangePreview) (rows []web.Aspect) {
	for _, o := range p.Over {
		rows = append(
			rows,
			web.Aspect{Name: limitName(language, o.Limit), Text: strconv.FormatInt(o.Used, 10) + " / " + strconv.FormatInt(o.Most, 10)},
		)
	}
	return rows
}

// limitName is what a limit counts, in a language.
func limitName(language, name string) string {
	for _, k := range hosting.Kinds {
		if k.Quota == name {
			return cmp.Or(k.Several(language), name)
		}
	}
	return web.Texts[language]["change_limit_"+name]
}

// pendingNote tells on the page of a subscription which change is pending; blank: none.
func pendingNote(w web.Words, language string, sub *projections.Subscription) string {
	if sub.ChangePlanID == nil {
		return ""
	}
	which := "planned"
	if sub.ChangeInvoice != nil {
		which = "invoiced"
	}
	return texts.Say(
		language, "page.change_"+which, "plan", *sub.ChangePlanName, "period", w["period_"+*sub.ChangePeriod], "day",
		w.Date(*sub.ChangeAt),
	)
}
