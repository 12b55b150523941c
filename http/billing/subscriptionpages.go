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
	pages := web.ActPage[*subscription]{
		Web: s.web, Find: s.subscriptionWithMethods, Show: s.showSubscription,
		Acts: []web.Act[*subscription]{
			{Name: "cancel_subscription", IsOpen: isCancellable, Grave: true, Do: web.Pressed(s.cancel)},
			{Name: "cancel_now", IsOpen: isEndable, Grave: true, Do: web.Pressed(s.cancelNow)},
			{Name: "resume_subscription", IsOpen: isCancelled, Do: web.Pressed(s.resume)},
			{Name: "choose_method", IsOpen: hasMethods, Inputs: methodInputs, Do: web.Pressed(s.chooseByForm)},
		},
	}.Routes(path, "subscription", "Subscription", "A subscription", "Cancel a subscription, take that back, or say how renewals are paid")
	pages[0] = pages[0].Taking(field.Int("events", new(int64)).Doc("How many events of its history are shown."))
	pages[1] = pages[1].For(caller.AdminSession(s.callers))
	return slices.Concat([]route.Route{
		web.View(web.SubscriptionsPath, "The tenant's subscriptions", s.showSubscriptions).As("subscriptions_page"),
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

// A subscriptionRow is a subscription in a list.
type subscriptionRow struct{ Path, Plan, Price, Status, StatusText, Next string }

func rowOfSubscription(w web.Words, language string, sub projections.Subscription) subscriptionRow {
	return subscriptionRow{
		Path: web.SubscriptionsPath + sub.OrderID.String() + "/", Plan: sub.PlanName, Price: w.Money(sub.Price, sub.Currency) + " · " + w["period_"+sub.BillingPeriod],
		Status: string(sub.Status), StatusText: w["subscription_state_"+string(sub.Status)], Next: nextOf(w, language, sub),
	}
}

// nextOf tells what comes next of a subscription.
func nextOf(w web.Words, language string, sub projections.Subscription) string {
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
	return texts.Say(language, "page.subscription_next_"+what, "day", w.Date(at))
}

func (s *subscriptions) showSubscriptions(ctx context.Context, c route.Call) (*route.Document, error) {
	row := func(w web.Words, one projections.Subscription) subscriptionRow {
		return rowOfSubscription(w, web.Readers(c), one)
	}
	data, err := listed(ctx, c, "Subscriptions", s.callers.Scope(c).Billing().Subscriptions, row, web.Choice{Name: "status", Text: "subscription_state_", Values: billing.Statuses})
	return listSheet(s.web, c, "subscriptions", data, err)
}

// newestInvoices is how many invoices the page of what they bill shows.
const newestInvoices = 12

// showSubscription is the page of a subscription with its invoices.
func (s *subscriptions) showSubscription(ctx context.Context, c route.Call, sub *subscription, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	found, err := s.callers.Scope(c).Billing().Invoices(ctx, projections.Listing{Limit: newestInvoices, Filters: []projections.Filter{{Field: "order", Op: "=", Value: sub.OrderID}}})
	if err != nil {
		return nil, err
	}
	invoices := make([]documentRow, len(found.Rows))
	for i, one := range found.Rows {
		invoices[i] = rowOfInvoice(w, one)
	}
	row := rowOfSubscription(w, web.Readers(c), sub.Subscription)
	until, begun := w.Moment("", &sub.PeriodEnd, ""), w.Moment("", &sub.CreatedAt, "")
	until.Name, begun.Name = w["subscription_until"], w["subscription_begun"]
	past, err := s.web.HistoryOf(ctx, c, s.lookback, billing.KeepOn{Order: sub.OrderID}.Stream())
	if err != nil {
		return nil, err
	}
	change := ""
	if isCancellable(sub) {
		change = row.Path + "change/"
	}
	return s.web.Sheet(c, back.StatusOf(), "subscription", "subscription_title", map[string]any{
		"Pending": pendingNote(w, web.Readers(c), &sub.Subscription), "ChangePath": change,
		"Title": sub.PlanName, "Subscription": row, "Invoices": invoices, "Acts": acts, "Wide": true, "Past": past,
		"Facts": web.Told(web.Aspect{Name: w["subscription_price"], Text: row.Price}, begun, until, chargedBy(w, sub)),
	})
}
