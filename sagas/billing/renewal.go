package billing

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Each subscription has one deadline, which stands in the event that set it. A step is
// taken when its time has come. Its event sets the next deadline, so what was missed while
// the panel was off follows in order.

// stepsAtOnce is how many subscriptions one process advances at a time.
const stepsAtOnce = 16

// renewals is woken when a deadline may have been set that is over.
const renewals = "renewals"

// renewalQueue are the subscriptions whose step is due, the earliest first.
func (s *Service) renewalQueue() sagas.Queue[uuid.UUID] {
	return sagas.Queue[uuid.UUID]{
		Name: renewals, Failed: "subscriptions were not renewed", AtOnce: stepsAtOnce, Batch: 4 * stepsAtOnce,
		KeyType: "uuid", Policy: s.policy(),
		Due: func() (string, []any) { return projections.DueSubscriptions(s.Runner.Now()) },
		Do: func(ctx context.Context, task *sagas.Task[uuid.UUID]) (sagas.TaskEnd, error) {
			end, err := s.advance(ctx, task.Row, []eventstore.TxStatement{task.Recorded()})
			if err != nil {
				err = fmt.Errorf("advance subscription %s: %w", task.Row, err)
			}
			return end, err
		},
	}
}

// advance takes the step of a subscription that is due, with the row that ends its task. A
// repeat takes no other: its id follows from the event that set the deadline, and so does
// the invoice.
func (s *Service) advance(ctx context.Context, id uuid.UUID, task []eventstore.TxStatement) (sagas.TaskEnd, error) {
	now := s.Runner.Now()
	advance := billing.Advance{Order: id, At: now, Terms: s.Terms}
	sub, version, err := eventstore.Fold(ctx, s.Store, billing.Subscriptions, advance.Stream())
	if err != nil {
		return sagas.TaskIdle, err
	}
	advance.Invoice = nextInvoice(sub)
	if sub.Bills(now) {
		if advance.Over, err = s.overruns(ctx, sub); err != nil {
			return sagas.TaskIdle, err
		}
	}
	if events, err := billing.Subscriptions.Decide(sub, advance); err != nil || len(events) == 0 {
		return sagas.TaskIdle, err
	}
	commands := []domain.Command{advance}
	seen := domain.Versions{advance.Stream(): version} // what is issued and withdrawn follows from that state
	if lapsing := sub.Lapsing(now); lapsing != uuid.Nil {
		commands = append(commands, billing.Withdraw{Invoice: lapsing, Reason: billing.Lapsed, At: now})
	}
	if sub.Bills(now) {
		more, balance, err := s.bill(ctx, sub.AsBilled(advance.Over), advance.Invoice, now)
		if err != nil {
			return sagas.TaskIdle, err
		}
		commands = append(commands, more...)
		maps.Copy(seen, balance)
	}
	_, err = s.Store.ExecuteWith(ctx, domain.Metadata{
		ID: uuid.NewSHA1(id, fmt.Appendf(nil, "advance/%d", version)), Actor: "system:billing",
		// of all that comes of one renewal
		Cause: domain.DeadlineCause(advance.Stream(), version), Correlation: uuid.NewSHA1(id, fmt.Appendf(nil, "period/%d", sub.Period+1)),
		ExpectedVersions: seen,
	}, task, commands...)
	if domain.CodeOf(err) == domain.Stale { // it has changed, or the balance has: look again
		return sagas.TaskDone, nil
	}
	return sagas.TaskRecorded, err
}

// nextInvoice is the id of the next invoice of a subscription: it follows from the order
// and from how many renewals were billed.
func nextInvoice(s billing.Subscription) uuid.UUID {
	return uuid.NewSHA1(s.Order, fmt.Appendf(nil, "renewal/%d", s.Issued+1))
}

// bill writes the invoice of the next period, to whom the last one was written, in the
// language of the order. One of nothing is paid at once, and so is one that the balance of
// the tenant covers. What is told of that balance holds in the version that is returned.
func (s *Service) bill(
	ctx context.Context, sub billing.Subscription, id uuid.UUID, now time.Time,
) ([]domain.Command, domain.Versions, error) {
	issue, taxed, err := s.issueTo(ctx, sub, now)
	if err != nil {
		return nil, nil, err
	}
	bought, err := s.Tables.For(projections.System).Orders().Order(ctx, sub.Order)
	if err != nil {
		return nil, nil, err
	}
	cost := taxed.Totals(sub.Price, decimal.Zero, sub.Currency, false)
	start, end := sub.NextPeriod()
	issue.ID, issue.DueAt = id, sub.NextDue(now, s.Terms)
	issue.Lines = []billing.Line{billing.PeriodLine(bought.Language, sub.PlanName, sub.Cycle, start, end, cost.Total)}
	issue.Total, issue.Subtotal, issue.Tax = cost.Total, cost.Subtotal, cost.Tax
	if !cost.Total.IsZero() {
		return s.issued(ctx, issue)
	}
	issue.DueAt = time.Time{}
	return []domain.Command{issue, billing.Renew{Order: sub.Order, Invoice: issue.ID, At: now, Terms: s.Terms}}, nil, nil
}

// issueTo is an invoice of a subscription to whom the last one was written, without lines,
// and how it is taxed.
func (s *Service) issueTo(ctx context.Context, sub billing.Subscription, now time.Time) (billing.Issue, tax.Decision, error) {
	last, err := s.Tables.For(projections.System).Billing().LastInvoice(ctx, sub.Order)
	taxed := s.Tax.Decide(s.TaxRate, last.Details(), now, cmp.Or(last.TaxIDAcceptedBy, "system:billing"))
	return billing.Issue{
		Order: sub.Order, Tenant: sub.Tenant, SubjectID: last.Subject, Name: last.CustomerName,
		Email: last.CustomerEmail, Company: last.CustomerCompany,
		Buyer: last.Details(), Seller: s.Seller, TaxRate: taxed.Rate, Treatment: taxed.Treatment, Currency: sub.Currency,
		Test: billing.IsTest(last.Number), At: now,
	}, taxed, err
}
