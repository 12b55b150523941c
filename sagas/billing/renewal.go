package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
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

// stepsAtOnce is how many subscriptions one process advances at a time, and mostDue how
// many it reads at once.
const (
	stepsAtOnce = 16
	mostDue     = 500
)

// renew advances the subscriptions that are due, until ctx ends. A step that has begun
// goes on in the context work.
func (s *Service) renew(ctx, work context.Context) {
	for ctx.Err() == nil {
		taken, err := s.advanceDue(ctx, work)
		switch {
		case err == nil || ctx.Err() != nil:
		case sagas.DatabaseAway(err):
			s.Runner.Log().WarnContext(ctx, "subscriptions were not renewed", "error", sagas.Scrub(err))
		default:
			s.Runner.Alarm(ctx, "subscriptions were not renewed", "error", sagas.Scrub(err))
		}
		if taken == 0 || err != nil {
			sagas.Pausing(ctx, sagas.Jittered(s.Look), s.Runner.Advanced())
		}
	}
}

// advanceDue takes one step of each subscription that is due, the earliest first, and
// returns how many steps were taken. One that fails stops no other.
func (s *Service) advanceDue(ctx, work context.Context) (taken int, err error) {
	if resting, err := s.Runner.InRecovery(ctx); err != nil || resting {
		return 0, err
	}
	now := s.Runner.Now()
	var last projections.DueSubscription
	var failures error
	for ctx.Err() == nil {
		due, err := s.Tables.For(projections.System).DueSubscriptions(ctx, now, last, mostDue)
		if err != nil || len(due) == 0 {
			return taken, errors.Join(err, failures)
		}
		steps, err := s.advanceEach(ctx, work, due)
		taken, failures = taken+steps, errors.Join(failures, err)
		last = due[len(due)-1]
	}
	return taken, nil
}

func (s *Service) advanceEach(ctx, work context.Context, due []projections.DueSubscription) (taken int, failures error) {
	room := make(chan struct{}, stepsAtOnce)
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, d := range due {
		if ctx.Err() != nil {
			break
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			var moved bool
			err := sagas.Guarded(func() (err error) {
				moved, err = s.Advance(work, d.OrderID)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case moved:
				taken++
			case err != nil && domain.CodeOf(err) != domain.Conflict: // another process was faster
				failures = errors.Join(failures, fmt.Errorf("advance subscription %s: %w", d.OrderID, err))
			}
		})
	}
	all.Wait()
	return taken, failures
}

// Advance takes the step of a subscription that is due, and tells whether there was one. A
// repeat takes no other: its id follows from the event that set the deadline, and so does
// the invoice.
func (s *Service) Advance(ctx context.Context, id uuid.UUID) (moved bool, err error) {
	now := s.Runner.Now()
	advance := billing.Advance{Order: id, At: now, Terms: s.Terms}
	sub, version, err := eventstore.Fold(ctx, s.Store, billing.Subscriptions, advance.Stream())
	if err != nil {
		return false, err
	}
	advance.Invoice = nextInvoice(sub)
	if sub.Bills(now) {
		if advance.Over, err = s.overruns(ctx, sub); err != nil {
			return false, err
		}
	}
	commands := []domain.Command{advance}
	if lapsing := sub.Lapsing(now); lapsing != uuid.Nil {
		commands = append(commands, billing.Withdraw{Invoice: lapsing, Reason: billing.Lapsed, At: now})
	}
	if sub.Bills(now) {
		more, err := s.bill(ctx, sub.AsBilled(advance.Over), advance.Invoice, now)
		if err != nil {
			return false, err
		}
		commands = append(commands, more...)
	}
	done, err := s.Store.Execute(ctx, domain.Metadata{
		ID: uuid.NewSHA1(id, fmt.Appendf(nil, "advance/%d", version)), Actor: "system:billing",
		Cause: domain.DeadlineCause(advance.Stream(), version), Correlation: uuid.NewSHA1(id, fmt.Appendf(nil, "period/%d", sub.Period+1)), // of all that comes of one renewal
	}, commands...)
	return err == nil && done.Position > 0, err
}

// nextInvoice is the id of the next invoice of a subscription: it follows from the order
// and from how many renewals were billed.
func nextInvoice(s billing.Subscription) uuid.UUID {
	return uuid.NewSHA1(s.Order, fmt.Appendf(nil, "renewal/%d", s.Issued+1))
}

// bill writes the invoice of the next period, to whom the last one was written, in the
// language of the order. One of nothing is paid at once.
func (s *Service) bill(ctx context.Context, sub billing.Subscription, id uuid.UUID, now time.Time) ([]domain.Command, error) {
	issue, taxed, err := s.issueTo(ctx, sub, now)
	if err != nil {
		return nil, err
	}
	bought, err := s.Tables.For(projections.System).Order(ctx, sub.Order)
	if err != nil {
		return nil, err
	}
	cost := taxed.Totals(sub.Price, decimal.Zero, sub.Currency, false)
	start, end := sub.NextPeriod()
	issue.ID, issue.DueAt = id, sub.NextDue(now, s.Terms)
	issue.Lines = []billing.Line{billing.PeriodLine(bought.Language, sub.PlanName, sub.Cycle, start, end, cost.Total)}
	issue.Total, issue.Subtotal, issue.Tax = cost.Total, cost.Subtotal, cost.Tax
	if !cost.Total.IsZero() {
		return []domain.Command{issue}, nil
	}
	issue.DueAt = time.Time{}
	return []domain.Command{issue, billing.Renew{Order: sub.Order, Invoice: issue.ID, At: now, Terms: s.Terms}}, nil
}

// issueTo is an invoice of a subscription to whom the last one was written, without lines,
// and how it is taxed.
func (s *Service) issueTo(ctx context.Context, sub billing.Subscription, now time.Time) (billing.Issue, tax.Decision, error) {
	last, err := s.Tables.For(projections.System).LastInvoice(ctx, sub.Order)
	taxed := s.Tax.Decide(s.TaxRate, last.Details(), now, cmp.Or(last.TaxIDAcceptedBy, "system:billing"))
	return billing.Issue{
		Order: sub.Order, Tenant: sub.Tenant, SubjectID: last.Subject, Name: last.CustomerName, Email: last.CustomerEmail, Company: last.CustomerCompany,
		Buyer: last.Details(), Seller: s.Seller, TaxRate: taxed.Rate, Treatment: taxed.Treatment, Currency: sub.Currency, Test: billing.IsTest(last.Number), At: now,
	}, taxed, err
}
