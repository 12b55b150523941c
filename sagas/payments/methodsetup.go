package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A payment method is added without a payment by a setup: a session of its provider that
// moves no money. It is opened, watched, and matched with webhooks as that of an order
// (docs/invoices.md, "Adding a payment method"; decision 0050).
type setups struct{ service *Service }

// setupPage is where the person comes back to after the provider's page.
const setupPage = "/billing/payment-methods/?setup="

// SetUpMethod sends a member of a tenant to a page on which a payment method is added. What
// has begun goes on, so repeats and calls at the same time lead to one page. A provider that
// opens none is refused with reason "payment_provider_unavailable".
func (s *Service) SetUpMethod(ctx context.Context, cause func() domain.Metadata, asked billing.AskedSetup) (uuid.UUID, error) {
	p, err := s.providers.named(asked.Provider)
	if err != nil {
		return uuid.Nil, errProviderAway
	}
	if _, keeps := p.(order.Keeper); !keeps {
		return uuid.Nil, order.ErrKeepsNone
	}
	earlier, err := s.tables.For(projections.System).Billing().MethodSetupsOf(ctx, asked.User, asked.Tenant)
	if err != nil {
		return uuid.Nil, err
	}
	now := s.runner.Now()
	for _, m := range earlier {
		if m.Status == billing.SetupOpen && m.Provider == asked.Provider && now.Before(m.ExpiresAt) {
			return m.ID, setups{s}.open(ctx, p, m.ID, asked)
		}
	}
	id := uuid.NewSHA1(asked.Subject, fmt.Appendf(nil, "method setup/%d/%d", asked.Tenant, len(earlier)+1))
	m := cause()
	m.Correlation = id
	_, err = s.store.Execute(ctx, m, billing.StartSetup{
		ID: id, Tenant: asked.Tenant, User: asked.User, Subject: asked.Subject, Provider: asked.Provider, Test: !p.Live(),
		At: now, ExpiresAt: now.Add(s.times.SessionLife),
	})
	if err != nil {
		return id, err
	}
	return id, setups{s}.open(ctx, p, id, asked)
}

// open makes sure that a setup has a page. No transaction is open during the call, and the
// ledger tells whether the same one may be sent again (rules T2 to T4).
func (s setups) open(ctx context.Context, p order.Provider, id uuid.UUID, asked billing.AskedSetup) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.service.times.SessionBudget+s.service.runner.Times().Write)
	defer cancel()
	m, _, err := eventstore.Fold(ctx, s.service.store, billing.MethodSetups, billing.MethodSetupStream(id))
	switch {
	case err != nil:
		return err
	case m.Status != billing.SetupOpen: // a replica has not shown it: the next try begins another
		return eventstore.ErrConflict
	case m.Session != "":
		return nil
	}
	if err := s.service.runner.KeepRecovery(ctx); err != nil {
		return err
	}
	request := map[string]any{"method_setup": id, "provider": m.Provider}
	generation, err := s.service.Pages.intendSession(ctx, opening{id, m.Provider, m.StartedAt, request})
	if err != nil || generation == 0 { // another call was faster
		return err
	}
	back := s.service.publicURL() + setupPage + id.String()
	session, err := s.service.Pages.askForSession(ctx, p.(order.Keeper).OpenSetup, order.Checkout{
		Order: id, EffectKey: fmt.Sprintf("method_setup/%s/session/%d", id, generation), Email: asked.Email, Language: asked.Language,
		Currency: asked.Currency, ReturnURL: back, CancelURL: back, ExpiresAt: m.ExpiresAt, Save: true,
		Installation: s.service.runner.Installation,
	}) //nolint:forcetypeassert // SetUpMethod has looked
	if err == nil && !session.LeadsTo(p.Host(), s.service.runner.Now()) {
		err = domain.Fail(domain.Permanent, "foreign_page", fmt.Errorf("the page of a setup is not at %s", p.Host()))
	}
	if err != nil {
		return s.failed(ctx, id, err)
	}
	open := billing.OpenSetup{ID: id, Session: session.ID, URL: session.URL, ExpiresAt: session.ExpiresAt, At: s.service.runner.Now()}
	_, err = s.service.store.ExecuteWith(
		ctx, sagas.System("checkout", id), openedRows(id, p.Name(), session.ID, s.service.times.SessionChecks[0]), open,
	)
	if err == nil {
		s.service.runner.Wake(inboxQueue)
	}
	return err
}

func (s setups) failed(ctx context.Context, id uuid.UUID, failure error) error {
	s.service.runner.Log().WarnContext(ctx, "no page for a payment method was opened", "setup", id, "error", sagas.Scrub(failure))
	row := unopened(id, failure)
	if _, err := s.service.runner.Exec(ctx, "record a session that was not opened", row.SQL, row.Args...); err != nil {
		return err
	}
	return errProviderAway
}

// closeSession makes a look at a setup that has ended due at once: its session is expired.
func (s setups) closeSession(ctx context.Context, id uuid.UUID) error {
	_, err := s.service.runner.Exec(ctx, "hint at a setup", `
		update payment_watch w set `+hinted("'ended'", "$2")+` where order_id = $1`, id, s.service.store.StoredCause(ctx))
	s.service.runner.Wake(watchQueue)
	return err
}

// checkSetup fetches what the provider knows of a setup and lets it decide. What it keeps is
// saved, and what it keeps after the end is discarded, in the append that ends the check.
func (s setups) checkSetup(ctx context.Context, c check) (end sagas.TaskEnd, err error) {
	stream := billing.MethodSetupStream(c.order)
	m, version, err := eventstore.Fold(ctx, s.service.store, billing.MethodSetups, stream)
	if err != nil {
		return end, err
	}
	if ctx, err = c.follow(ctx, stream, version); err != nil {
		return end, err
	}
	var commands []domain.Command
	switch {
	case m.Status == billing.SetupOpen && m.Session == "":
		if now := s.service.runner.Now(); !now.Before(m.StartedAt.Add(s.service.times.PendingTTL)) {
			commands = []domain.Command{billing.EndSetup{ID: c.order, Reason: billing.SetupExpired, At: now}}
		}
	case isWatched(m):
		if d := s.service.backoff.remaining(c.provider); d > 0 {
			return sagas.TaskAfter(d), nil
		}
		seen, err := s.look(ctx, c, m)
		switch {
		case errors.Is(err, errNoTurn):
			return sagas.TaskAfter(0), nil
		case err != nil:
			return end, s.service.noAnswer(ctx, c, err)
		}
		if commands, err = s.observeSetup(ctx, c.order, m, seen); err != nil {
			return end, err
		}
	}
	for _, command := range commands {
		if m, err = stands(m, command); err != nil {
			return end, err
		}
	}
	var seen domain.Versions
	if len(commands) > 0 {
		seen = domain.Versions{stream: version}
	}
	return s.service.endCheck(ctx, c, s.service.times.nextLook(m, s.service.runner.Now()), seen, nil, commands)
}

// stands is how a setup stands after a command; others than its own leave it as it is.
func stands(m billing.MethodSetup, c domain.Command) (billing.MethodSetup, error) {
	own, is := c.(billing.MethodSetupCommand)
	if !is {
		return m, nil
	}
	events, err := billing.MethodSetups.Decide(m, own)
	for _, e := range events {
		m = billing.MethodSetups.Evolve(m, e)
	}
	return m, err
}

// isWatched tells whether what the provider knows of a setup may still mean something.
func isWatched(m billing.MethodSetup) bool {
	return m.Session != "" && (m.Status == billing.SetupOpen || m.Status == billing.SetupEnded && !m.Discarded)
}

// A sighting is what a look at a setup has found.
type sighting struct {
	order.Fetched
	refused bool // the provider does not keep what the customer has agreed to
}

// isForeign tells whether the provider shows something else than the setup. What it does not
// know any more is not foreign.
func (t sighting) isForeign(id uuid.UUID, m billing.MethodSetup) bool {
	isForgotten := t.State == order.SessionExpired && t.Order == uuid.Nil && t.Saved == nil
	return t.Provider != m.Provider || t.Live == m.Test || t.Order != id && !isForgotten
}

// look reads the session of a setup. One whose time is up is expired before, and one that
// its customer has approved is finished.
func (s setups) look(ctx context.Context, c check, m billing.MethodSetup) (seen sighting, err error) {
	err = s.service.inTurn(ctx, c, func(ctx context.Context, p order.Provider) (err error) {
		isOver := m.Status == billing.SetupEnded || !s.service.runner.Now().Before(m.ExpiresAt)
		if isOver {
			if err := p.ExpireSession(ctx, m.Session); err != nil {
				return err
			}
		}
		seen.Fetched, err = p.Fetch(ctx, m.Session)
		if err != nil || isOver || seen.State != order.SessionApproved || seen.isForeign(c.order, m) {
			return err
		}
		return s.finish(ctx, c.order, p, &seen)
	})
	return seen, err
}

// finish has the provider keep what the customer has agreed to. Each call follows a look, so
// one whose answer is lost is found by the next one.
func (s setups) finish(ctx context.Context, id uuid.UUID, p order.Provider, seen *sighting) error {
	finisher, is := p.(order.SetupFinisher)
	if !is {
		return nil
	}
	saved, err := finisher.FinishSetup(ctx, order.SetupCall{Session: seen.Session, Key: "method_setup/" + id.String() + "/keep"})
	if err != nil && domain.ClassOf(err) == domain.Permanent {
		s.service.runner.Log().WarnContext(ctx, "a provider does not keep a payment method", "setup", id, "error", sagas.Scrub(err))
		seen.refused, err = true, nil
	}
	seen.Saved = saved
	return err
}

// observeSetup decides what the provider's books mean for a setup. What is kept for a person
// who has left the tenant is discarded.
func (s setups) observeSetup(ctx context.Context, id uuid.UUID, m billing.MethodSetup, truth sighting) ([]domain.Command, error) {
	now := s.service.runner.Now()
	isOver := truth.State == order.SessionExpired || !now.Before(m.ExpiresAt)
	switch {
	case truth.isForeign(id, m):
		s.service.runner.Alarm(
			ctx, "a provider shows another session for the setup of a payment method", "setup", id, "provider",
			m.Provider,
		)
		return []domain.Command{billing.EndSetup{ID: id, Reason: billing.SetupForeign, At: now}}, nil
	case truth.refused:
		return []domain.Command{billing.EndSetup{ID: id, Reason: billing.SetupRefused, At: now}}, nil
	case truth.Saved == nil && isOver:
		return []domain.Command{billing.EndSetup{ID: id, Reason: billing.SetupExpired, At: now}}, nil
	case truth.Saved == nil:
		return nil, nil
	}
	kept := billing.KeptMethod{
		SubjectID: m.Person, Setup: id, Provider: m.Provider, Customer: truth.Saved.Customer, Token: truth.Saved.Token,
		Kind: truth.Saved.Kind, Brand: truth.Saved.Brand, Last4: truth.Saved.Last4, Expires: truth.Saved.Expires(),
	}
	keep := billing.KeepSetup{ID: id, Method: uuid.NewSHA1(id, []byte("payment method")), Kept: kept, At: now}
	if m.Status != billing.SetupOpen {
		return []domain.Command{keep}, nil
	}
	belongs, err := s.belongs(ctx, m)
	switch {
	case err != nil:
		return nil, err
	case !belongs:
		return []domain.Command{billing.EndSetup{ID: id, Reason: billing.MembershipEnded, At: now}, keep}, nil
	}
	return []domain.Command{keep, billing.SaveMethod{ID: keep.Method, Tenant: m.Tenant, Kept: kept, At: now}}, nil
}

// belongs tells whether the person is still a member of the tenant.
func (s setups) belongs(ctx context.Context, m billing.MethodSetup) (bool, error) {
	all, err := s.service.tables.For(projections.System).Accounts().Memberships(ctx, m.User)
	return slices.ContainsFunc(all, func(one projections.Membership) bool { return one.Tenant == m.Tenant }), err
}

// nextLook is the pause until a setup is looked at again without a hint; nil: it is not any
// more.
func (t Times) nextLook(m billing.MethodSetup, now time.Time) *time.Duration {
	var moments []time.Time
	switch {
	case m.Status == billing.SetupOpen && m.Session == "":
		moments = []time.Time{m.StartedAt.Add(t.PendingTTL)}
	case !isWatched(m):
	case m.Status == billing.SetupOpen:
		moments = append(after(m.OpenedAt, t.SessionChecks), m.ExpiresAt.Add(t.AfterExpiry), now.Add(t.SettlementCheck))
	default:
		moments = after(m.EndedAt, t.CancelledChecks)
	}
	return until(soonest(moments, now), now)
}
