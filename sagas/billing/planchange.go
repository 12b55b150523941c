package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// A change of the plan is quoted and carried out by the same code, so a preview tells what
// the change at that moment does (docs/invoices.md, "Changing the plan").

// A change is a wanted change with all that it depends on.
type change struct {
	sub       billing.Subscription
	version   int
	language  string
	to        billing.PlanTerms
	proration billing.Proration
	over      []billing.Overrun
	reserve   domain.Command // of a virtual server: the place that it needs; nil: it stays
	at        time.Time
}

// isMoot tells whether nothing is to be done, except that another change is taken back.
func (c *change) isMoot() bool { return c.sub.Has(c.to) || c.sub.Awaits(c.to) }

// isNow tells whether the change has to be paid, and counts then.
func (c *change) isNow() bool { return c.proration.Due().IsPositive() }

// PreviewChange tells what a change of a subscription's plan would do now.
func (s *Service) PreviewChange(
	ctx context.Context, subscription uuid.UUID, plan int64, cycle string,
) (billing.ChangePreview, []hosting.EngineCall, error) {
	c, err := s.wanted(ctx, subscription, plan, cycle)
	if err != nil {
		return billing.ChangePreview{}, nil, err
	}
	p := billing.ChangePreview{To: c.to, Currency: c.sub.Currency, StartsAt: c.sub.PeriodEnd, Over: c.over}
	if c.sub.Has(c.to) {
		p.StartsAt = c.sub.PeriodStart
		p.Invoice, _, err = s.issueTo(ctx, c.sub, c.at)
		return p, nil, err
	}
	if p.Invoice, err = s.invoiceOf(ctx, c, uuid.Nil); err != nil {
		return p, nil, err
	}
	p.Proration = c.proration.Without(p.Invoice.Treatment, c.sub.Currency)
	if p.Now = c.isNow(); p.Now {
		p.StartsAt, p.PayUntil = c.at, &p.Invoice.DueAt
	}
	asking, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	calls, err := s.Places.EngineCalls(asking, c.sub.Tenant, c.to.Grants)
	if _, failed := errors.AsType[*domain.Failure](err); failed { // the amounts are known all the same
		p.Silent, calls, err = true, nil, nil
	}
	return p, calls, err
}

// engineTime is how long a preview waits for the hosting engine.
const engineTime = 5 * time.Second

// changeTries is how often a change is decided anew that another request has overtaken.
const changeTries = 3

// ChangePlan changes the plan of a subscription: once the difference is paid, or with the
// next period if there is none to pay. A plan that is too small for what the tenant uses is
// refused.
func (s *Service) ChangePlan(ctx context.Context, cause domain.Metadata, subscription uuid.UUID, plan int64, cycle string) error {
	return s.retried(cause, func(cause domain.Metadata) error { return s.tryChange(ctx, cause, subscription, plan, cycle) })
}

func (s *Service) tryChange(ctx context.Context, cause domain.Metadata, subscription uuid.UUID, plan int64, cycle string) error {
	c, err := s.wanted(ctx, subscription, plan, cycle)
	if err != nil {
		return err
	}
	if len(c.over) > 0 && !c.isMoot() {
		return domain.RefuseField("plan", "The plan is too small for what is used: "+billing.Overruns(c.over)+".")
	}
	ask := billing.ChangePlan{
		Order: subscription, To: c.to, Invoice: uuid.NewSHA1(subscription, fmt.Appendf(nil, "change/%d", c.version)),
		At: c.at, Terms: s.Terms,
	}
	commands, seen := []domain.Command{ask}, domain.Versions{}
	if c.reserve != nil {
		commands = append(commands, c.reserve)
	}
	if before := c.sub.Change; before != nil && before.Invoice != uuid.Nil && !c.sub.Awaits(c.to) {
		commands = append(commands, billing.Withdraw{Invoice: before.Invoice, Reason: billing.Replaced, At: c.at})
	}
	if c.isNow() && !c.isMoot() {
		issue, err := s.invoiceOf(ctx, c, ask.Invoice)
		if err != nil {
			return err
		}
		issued, balance, err := s.issued(ctx, issue)
		if err != nil {
			return err
		}
		commands, seen = append(commands, issued...), balance
	}
	if cause.ExpectedVersions == nil { // the invoice is that of the state that was read
		seen[ask.Stream()] = c.version
		cause.ExpectedVersions = seen
	}
	_, err = s.Store.Execute(ctx, cause, commands...)
	return err
}

// wanted reads what a change to a plan depends on, and refuses one that cannot be.
func (s *Service) wanted(ctx context.Context, subscription uuid.UUID, plan int64, cycle string) (*change, error) {
	c := &change{at: s.Runner.Now()}
	var err error
	if c.sub, c.version, err = eventstore.Fold(
		ctx, s.Store, billing.Subscriptions, billing.ChangePlan{Order: subscription}.Stream(),
	); err != nil {
		return nil, err
	}
	if err := c.sub.MayChange(c.at); err != nil {
		return nil, err
	}
	scope := s.Tables.For(projections.System)
	bought, err := scope.Orders().Order(ctx, subscription)
	if err != nil {
		return nil, err
	}
	offer, err := scope.Orders().Plan(ctx, plan)
	if err := refuseOffer(offer, err, bought, c.sub); err != nil {
		return nil, err
	}
	if err := refuseJoined(ctx, scope, offer, c.sub); err != nil {
		return nil, err
	}
	cost := money.TotalsOf(offer.Price, decimal.Zero, s.TaxRate, offer.Currency, cycle == yearly)
	c.language = bought.Language
	c.to = billing.PlanTerms{
		Plan: offer.ID, PlanName: offer.In(c.language).Name, BillingPeriod: cycle, Price: cost.Period, Grants: s.Places.Grants(offer),
	}
	c.proration = c.sub.Prorate(c.to, c.at)
	if c.reserve, err = s.Places.Resize(ctx, subscription, c.to.Grants); err != nil {
		return nil, err
	}
	c.over, err = s.Places.Overruns(ctx, c.sub.Tenant, c.to.Grants)
	return c, err
}

const yearly = "yearly"

// refuseOffer refuses a plan that a subscription cannot have.
func refuseOffer(offer projections.Plan, missing error, bought projections.Order, sub billing.Subscription) error {
	switch {
	case domain.CodeOf(missing) == domain.NotFound, missing == nil && !offer.IsActive && offer.ID != sub.Plan:
		return domain.RefuseField("plan", "There is no such plan on offer.")
	case missing != nil:
		return missing
	case offer.ResourceType != bought.ResourceType:
		return domain.RefuseField("plan", "The plan is for another sort of service.")
	case offer.Currency != sub.Currency:
		return domain.RefuseField("plan", "The plan has another currency.")
	}
	return nil
}

// refuseJoined refuses another plan to a service that was ordered into a tenant: what it
// adds to the tenant follows from the plan of its order.
func refuseJoined(ctx context.Context, scope projections.Scope, offer projections.Plan, sub billing.Subscription) error {
	if offer.ID == sub.Plan {
		return nil
	}
	services, err := scope.Billing().ServicesOf(ctx, sub.Tenant)
	if slices.ContainsFunc(services, func(s projections.ServiceOrder) bool { return s.OrderID == sub.Order && !s.Made }) {
		return domain.RefuseField(
			"plan", "A service that was ordered into a tenant keeps its plan. Only its billing period can be changed.",
		)
	}
	return err
}

// overruns are what does not fit into the plan that is planned for the next period.
func (s *Service) overruns(ctx context.Context, sub billing.Subscription) ([]billing.Overrun, error) {
	if sub.Change == nil {
		return nil, nil
	}
	return s.Places.Overruns(ctx, sub.Tenant, sub.Change.Grants)
}

// invoiceOf is the invoice that a change brings: that of the difference, or that of the
// next period.
func (s *Service) invoiceOf(ctx context.Context, c *change, id uuid.UUID) (billing.Issue, error) {
	issue, taxed, err := s.issueTo(ctx, c.sub, c.at)
	if err != nil {
		return issue, err
	}
	issue.ID = id
	if c.isNow() {
		due := c.proration.Without(taxed.Treatment, c.sub.Currency)
		cost := taxed.Totals(c.proration.Due(), decimal.Zero, c.sub.Currency, false)
		issue.Lines, issue.DueAt = due.Lines(c.language, c.sub.PlanTerms(), c.to), c.sub.PayUntil(c.at, s.Terms)
		issue.Total, issue.Subtotal, issue.Tax = cost.Total, cost.Subtotal, cost.Tax
		return issue, nil
	}
	planned := billing.ChangePlanned{PlanTerms: c.to, StartsAt: c.sub.PeriodEnd, At: c.at}
	next := billing.Subscriptions.Evolve(c.sub, planned).AsBilled(nil)
	start, end := next.NextPeriod()
	cost := taxed.Totals(next.Price, decimal.Zero, c.sub.Currency, false)
	issue.Lines = []billing.Line{billing.PeriodLine(c.language, next.PlanName, next.Cycle, start, end, cost.Total)}
	issue.Total, issue.Subtotal, issue.Tax, issue.At, issue.DueAt = cost.Total, cost.Subtotal, cost.Tax, start, next.NextDue(start, s.Terms)
	return issue, nil
}
