package billing

import (
	"context"
	"slices"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/texts"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// pages are what a tenant pays for.
func (s *subscriptions) pages() []route.Route {
	const path = web.SubscriptionsPath + "{id:uuid}/"
	pages := web.ActRoutes(web.ActPage[*subscription]{
		Web: s.web, Find: s.subscriptionWithMethods, Show: s.showSubscription,
		Acts: []web.Act[*subscription]{
			{Name: "cancel_subscription", IsOpen: isCancellable, Grave: true, Do: web.Pressed(s.cancel)},
			{Name: "cancel_now", IsOpen: isEndable, Grave: true, Do: web.Pressed(s.cancelNow)},
			{Name: "resume_subscription", IsOpen: isCancelled, Do: web.Pressed(s.resume)},
			{Name: "choose_method", IsOpen: hasMethods, Asks: true, Inputs: methodInputs, Do: web.Pressed(s.chooseByForm)},
		},
	}, path, "subscription", "Subscription", "A subscription", "Cancel a subscription, take that back, or say how renewals are paid")
	pages[0] = pages[0].Taking(field.Int("events", new(int64)).Doc("How many events of its history are shown."))
	pages[1] = pages[1].For(caller.AdminSession(s.callers))
	return slices.Concat([]route.Route{
		web.ViewList(s.list(), web.SubscriptionsPath, "The tenant's subscriptions").As("subscriptions_page"),
	}, pages, s.changePages())
}

func isCancellable(sub *subscription) bool {
	return sub.mayChange && sub.Status != billing.Cancelling && sub.Status != billing.Over
}

func isEndable(sub *subscription) bool { return sub.mayChange && sub.Status != billing.Over }

func (s *subscriptions) cancelNow(ctx context.Context, c route.Call, sub *subscription, _ *route.Nothing) error {
	return s.cancel(ctx, c, sub, &cancellation{At: atOnce})
}

func isCancelled(sub *subscription) bool {
	return sub.mayChange && sub.Status == billing.Cancelling
}

// list is the page of what a tenant pays for.
func (s *subscriptions) list() web.List[projections.Subscription] {
	l := subscriptionList
	l.Web, l.Name, l.Before, l.Wide = s.web, "subscriptions", hasTenant, true
	l.Choices = []web.Choice{{Name: "status", Text: "subscription_state_", Values: billing.Statuses}}
	l.Read = caller.Reads(s.callers, projections.Scope.Billing, projections.BillingReader.Subscriptions)
	return l
}

// subscriptionList shows subscriptions with what comes next of them.
var subscriptionList = web.List[projections.Subscription]{
	Fields: (*projections.Subscription).Fields,
	Cards: web.Cards{
		Page: web.SubscriptionsPath, Title: "plan_name", Badges: []string{"status"}, Lines: []string{"price+billing_period"},
	},
	More: func(c route.Call, sub *projections.Subscription, card *web.Card) {
		card.Note = []web.Aspect{{Text: nextOf(web.Readers(c), sub)}}
	},
}

// cardOf is the card of one subscription.
func cardOf(c route.Call, sub projections.Subscription) web.Card {
	return web.CardsOf(c, subscriptionList, []projections.Subscription{sub})[0]
}

// nextOf tells what comes next of a subscription.
func nextOf(language string, sub *projections.Subscription) string {
	at, what := sub.PeriodEnd, string(sub.Status)
	switch {
	case sub.Status == billing.Running && sub.DueAt != nil:
		at, what = *sub.DueAt, "due"
	case sub.Status == billing.Running && sub.NextAt != nil:
		at = *sub.NextAt
	case sub.Status == billing.PastDue && sub.DueAt != nil:
		at = *sub.DueAt
	case sub.Status == billing.Suspended && sub.SuspendedAt != nil:
		at = *sub.SuspendedAt
	case sub.Status == billing.Over:
		at = sub.UpdatedAt
	}
	return texts.Say(language, "page.subscription_next_"+what, "day", web.Texts[language].Date(at))
}

// showSubscription is the page of a subscription with its invoices.
func (s *subscriptions) showSubscription(
	ctx context.Context, c route.Call, sub *subscription, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	invoices, err := invoicesOf(ctx, c, s.callers.Scope(c), sub.OrderID)
	if err != nil {
		return nil, err
	}
	card := cardOf(c, sub.Subscription)
	past, err := s.web.HistoryOf(ctx, c, s.lookback, billing.KeepOn{Order: sub.OrderID}.Stream())
	if err != nil {
		return nil, err
	}
	change := ""
	if isCancellable(sub) {
		change = card.Path + "change/"
	}
	return s.web.Sheet(c, back.StatusOf(), "subscription", "subscription_title", map[string]any{
		"Pending": pendingNote(w, web.Readers(c), &sub.Subscription), "ChangePath": change,
		"Title": sub.PlanName, "Subscription": card, "Invoices": invoices, "Acts": acts, "Wide": true, "Past": past,
		"Facts": append([]web.Aspect{{Name: w["subscription_price"], Text: card.Lines[0]}},
			append(w.Values(sub.Fields(), "created_at", "period_end"), web.Told(chargedBy(w, sub))...)...),
	})
}
