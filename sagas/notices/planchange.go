package notices

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// reactToChange tells the customer of a subscription how a change of the plan stands
// (docs/invoices.md, "Changing the plan"). A dropped change is told to operators as well.
func (n billingNews) reactToChange(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case billing.ChangeInvoiced:
		return n.tellOfChangeBill(ctx, r, e)
	case billing.ChangePlanned:
		return n.tellOfNewPlan(ctx, r, notice.ChangePlanned, e.PlanName, e.StartsAt)
	case billing.PlanChanged:
		return n.tellOfNewPlan(ctx, r, notice.PlanChanged, e.PlanName, e.PeriodEnd)
	case billing.ChangeWithdrawn:
		if e.Reason == billing.Lapsed {
			return n.tellOfNewPlan(ctx, r, notice.ChangeLapsed, e.PlanName, e.At)
		}
	case billing.ChangeDropped:
		return n.tellOfDropped(ctx, r, e)
	}
	return nil
}

func (n billingNews) tellOfChangeBill(ctx context.Context, r eventstore.RecordedEvent, e billing.ChangeInvoiced) error {
	o, err := n.notifier.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	i, err := n.notifier.tables.For(projections.System).Billing().Invoice(ctx, e.Invoice)
	if err != nil || paidOnIssue(i) {
		return err
	}
	bill := notice.Bill{Invoice: e.Invoice, Number: i.Number, Plan: e.PlanName, Total: toPay(i), Currency: i.Currency, Day: e.DueAt}
	return n.notifier.tellCustomer(ctx, r, o, bill.News(notice.ChangeDue, o.Language))
}

func (n billingNews) tellOfNewPlan(ctx context.Context, r eventstore.RecordedEvent, template, plan string, day time.Time) error {
	o, err := n.notifier.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	return n.notifier.tellCustomer(ctx, r, o, notice.PlanNews(template, o.ID, plan, day, o.Language))
}

func (n billingNews) tellOfDropped(ctx context.Context, r eventstore.RecordedEvent, e billing.ChangeDropped) error {
	o, err := n.notifier.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	if err := n.notifier.tellCustomer(
		ctx, r, o, notice.ChangeDropped(o.ID, e.PlanName, overruns(e.Over, o.Language), o.Language),
	); err != nil {
		return err
	}
	return n.notifier.tellOperatorsOfOrder(ctx, r, func(id uuid.UUID, number, language string) notice.Text {
		return notice.ChangeDroppedOf(id, number, e.PlanName, overruns(e.Over, language), language)
	})
}

// overruns lists what there is too much of, in a language: "sitios: 7/5".
func overruns(over []billing.Overrun, language string) string {
	texts := make([]string, len(over))
	for i, o := range over {
		name := strings.ReplaceAll(o.Limit, "_", " ")
		for _, k := range hosting.Kinds {
			if k.Quota == o.Limit && k.HasPages() {
				name = k.Several(language)
			}
		}
		texts[i] = fmt.Sprintf("%s: %d/%d", name, o.Used, o.Most)
	}
	return strings.Join(texts, ", ")
}

// planOf is the plan that a subscription has by now: not always the one that was ordered.
func (n billingNews) planOf(ctx context.Context, o projections.Order) (string, error) {
	sub, known, err := n.notifier.tables.For(projections.System).Billing().SubscriptionOfOrder(ctx, o.ID)
	if err != nil || !known {
		return o.PlanName, err
	}
	return sub.PlanName, nil
}
