package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// errProviderAway refuses what cannot be done while a provider does not answer.
var errProviderAway = &domain.Error{
	Code: domain.Unavailable, Reason: "payment_provider_unavailable", Message: "The payment provider is temporarily unavailable.",
}

// Pages are those of providers on which customers pay, or add payment methods.
type Pages struct {
	runner    *sagas.Runner
	store     *eventstore.Store
	tables    *projections.Tables
	providers providers
	publicURL func() string
	times     Times
}

// OpenSession is [Pages.OpenSessionOf] an order that is read first.
func (s *Pages) OpenSession(ctx context.Context, id uuid.UUID) (order.Session, error) {
	o, err := orderOf(ctx, s.tables, id)
	if err != nil {
		return order.Session{}, err
	}
	return s.OpenSessionOf(ctx, o)
}

// OpenSessionOf opens the provider's payment page for a pending order. No
// transaction is open during the call. The session and the row that watches
// over the payment are one append (rules T2, T3). A second call answers with
// the same session. If the provider does not answer in time, the order stays
// pending and the refusal has reason "payment_provider_unavailable".
func (s *Pages) OpenSessionOf(ctx context.Context, o projections.Order) (order.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, s.times.SessionBudget+s.runner.Times().Write)
	defer cancel()
	p, ok := s.providers[o.PaymentMethod]
	switch {
	case o.SessionID != "":
		return sessionOfOrder(o), nil
	case o.Status != order.StatusPending:
		return order.Session{}, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The order cannot be paid any more."}
	case !ok:
		return order.Session{}, errProviderAway
	}
	if err := s.runner.KeepRecovery(ctx); err != nil {
		return order.Session{}, err
	}
	generation, err := s.intendSession(ctx, openingOf(o))
	if err != nil {
		return order.Session{}, err
	}
	if generation == 0 {
		return s.keptSession(ctx, o.ID)
	}
	checkout, err := s.checkoutOf(ctx, p, o, generation)
	if err != nil {
		return order.Session{}, s.sessionFailed(ctx, o, err)
	}
	session, err := s.askForSession(ctx, p.OpenSession, checkout)
	if err != nil {
		return order.Session{}, s.sessionFailed(ctx, o, err)
	}
	if err := s.keepSession(ctx, o, p, session); domain.CodeOf(err) == domain.Conflict {
		return s.keptSession(ctx, o.ID)
	} else if err != nil {
		return order.Session{}, err
	}
	return session, nil
}

// keptSession is that of another request for the same order, which was faster.
func (s *Pages) keptSession(ctx context.Context, id uuid.UUID) (order.Session, error) {
	o, err := orderOf(ctx, s.tables, id)
	if err == nil && o.SessionID == "" {
		err = errProviderAway
	}
	return sessionOfOrder(o), err
}

func sessionOfOrder(o projections.Order) order.Session {
	session := order.Session{ID: o.SessionID, URL: o.PaymentURL}
	if o.SessionExpiresAt != nil {
		session.ExpiresAt = *o.SessionExpiresAt
	}
	return session
}

func (s *Pages) checkoutOf(ctx context.Context, p order.Provider, o projections.Order, generation int) (order.Checkout, error) {
	_, saves := p.(order.Saver)
	saved, err := savedMethod(ctx, s.store, p, domain.OrZero(o.KeptMethod))
	back := s.publicURL() + order.ReturnPage(o.ID) + "?outcome="
	return order.Checkout{
		Order: o.ID, Number: o.OrderNumber, EffectKey: fmt.Sprintf("order/%s/session/%d", o.ID, generation), Minor: o.Minor,
		Currency: o.Currency, Total: o.Total,
		Description: o.PlanName, Email: o.CustomerEmail, Language: o.Language,
		ReturnURL: back + "success", CancelURL: back + "cancel", ExpiresAt: o.CreatedAt.Add(s.times.SessionLife),
		Installation: s.runner.Installation,
		Save:         saves && o.KeepFor != nil, Saved: saved,
	}, err
}

// An opening is what a session is opened for: an order, or the setup of a payment method.
type opening struct {
	id       uuid.UUID
	provider string
	begun    time.Time
	request  map[string]any // what is asked for
}

func openingOf(o projections.Order) opening {
	return opening{
		o.ID, o.PaymentMethod, o.CreatedAt,
		map[string]any{"order": o.ID, "minor": o.Minor, "currency": o.Currency, "provider": o.PaymentMethod},
	}
}

// intendSession records in the ledger, before the call, that a session may be
// opened, and that the order is watched. It returns the generation of the
// idempotency key. A key without an answer is not used again: the provider may
// repeat its failure for a day. A session that was opened under it all the same
// cannot be paid, because no customer got its page (rules T4, S-6). The
// generation is 0 if a session has been opened meanwhile.
func (s *Pages) intendSession(ctx context.Context, o opening) (generation int, err error) {
	prints, ids := s.store.Keys().Prints("effect request", sagas.Encode(o.request))
	err = s.store.Pool().QueryRow(ctx, `
		insert into effect (key, saga_id, step, state, request_mac, sent_at, sends, token) values ($1, $2, 'session',
			'intended', ($3::bytea[])[1], real_now(), 1, 0)
		on conflict (key) do update set sent_at = real_now(), sends = effect.sends + 1, updated_at = real_now(), state = 'intended',
			generation = effect.generation + case when effect.state = 'unknown'
				or effect.keyed_at < real_now() - $4::interval then 1 else 0 end,
			keyed_at = case when effect.state = 'unknown' or effect.keyed_at < real_now() - $4::interval then real_now()
				else effect.keyed_at end
		where `+sagas.SameRequest("$3", "$5")+` and effect.state in ('intended', 'unknown', 'absent') returning generation`,
		sagas.EffectKey(o.id, "session"), o.id, prints, s.runner.Times().KeyLife, ids).Scan(&generation)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, sagas.SQLError(err, "intend a session")
	}
	return generation, watchPending(ctx, s.runner, o.id, o.provider, o.begun.Add(s.times.PendingTTL))
}

// sessionTries is how often a session is asked for in one request.
const sessionTries = 2

// askForSession asks a provider by open for the page of a checkout.
func (s *Pages) askForSession(
	ctx context.Context, open func(context.Context, order.Checkout) (order.Session, error), c order.Checkout,
) (session order.Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.times.SessionBudget)
	defer cancel()
	for try := range sessionTries {
		if try > 0 {
			clock.Pausing(ctx, s.times.SessionPause, nil)
		}
		call, done := context.WithTimeout(ctx, s.times.SessionCall)
		session, err = open(call, c)
		done()
		if err == nil || domain.ClassOf(err) == domain.Permanent || ctx.Err() != nil {
			return session, err
		}
	}
	return session, err
}

func (s *Pages) sessionFailed(ctx context.Context, o projections.Order, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.runner.Times().Write)
	defer cancel()
	s.runner.Log().WarnContext(ctx, "no session was opened", "order", o.ID, "provider", o.PaymentMethod, "error", sagas.Scrub(failure))
	fail := order.FailSession{ID: o.ID, Code: sagas.CodeOf(failure), At: s.runner.Now()}
	_, err := s.store.ExecuteWith(ctx, sagas.System("checkout", o.ID), []eventstore.TxStatement{unopened(o.ID, failure)}, fail)
	return errors.Join(domain.Fail(domain.ClassOf(failure), sagas.CodeOf(failure), errProviderAway), err)
}

// unopened records in the ledger what is known of a session after a call that failed.
func unopened(id uuid.UUID, failure error) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key:  "effect/" + sagas.EffectKey(id, "session"),
		SQL:  `update effect set state = $2, updated_at = real_now() where key = $1 and state = 'intended'`,
		Args: []any{sagas.EffectKey(id, "session"), string(ledgerState(failure))}, WantRows: eventstore.AnyRows,
	}
}

// ledgerState is the state of an effect after a call that failed.
func ledgerState(failure error) sagas.EffectState {
	if class := domain.ClassOf(failure); class == domain.Transient || class == domain.Permanent {
		return sagas.EffectAbsent
	}
	return sagas.EffectUnknown
}

// keepSession records the session in the order and makes its first check due
// later. Webhooks about it that came earlier are matched again (rule I-11).
func (s *Pages) keepSession(ctx context.Context, o projections.Order, p order.Provider, session order.Session) error {
	rows := openedRows(o.ID, p.Name(), session.ID, s.times.firstCheck(o))
	open := order.OpenSession{ID: o.ID, Session: session, Host: p.Host(), At: s.runner.Now()}
	_, err := s.store.ExecuteWith(ctx, sagas.System("checkout", o.ID), rows, open)
	if err != nil {
		s.runner.Alarm(ctx, "a session that was opened cannot be used", "order", o.ID, "provider", p.Name(), "error", sagas.Scrub(err))
		return fmt.Errorf("keep session of order %s: %w", o.ID, err)
	}
	s.runner.Wake(inboxQueue)
	if o.KeptMethod != nil {
		s.runner.Wake(watchQueue)
	}
	return nil
}

// openedRows confirm a session in the ledger, and make its first check due after a while.
// Webhooks about it that came earlier are matched again.
func openedRows(id uuid.UUID, provider, session string, first time.Duration) []eventstore.TxStatement {
	key := sagas.EffectKey(id, "session")
	return []eventstore.TxStatement{
		{
			Key:  "effect/" + key,
			SQL:  `update effect set state = 'confirmed', external_id = $2, updated_at = real_now() where key = $1`,
			Args: []any{key, session}, WantRows: 1,
		},
		{
			Key: "payment_watch/" + id.String(),
			SQL: `update payment_watch set provider_ref = $2, reason = 'session', next_at = business_now() + $3::interval, wakes = wakes + 1
				where order_id = $1`,
			Args: []any{id, session, first}, WantRows: 1,
		},
		{
			Key: "webhook_inbox/" + id.String(),
			SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now()
				where state = 'unmatched' and provider = $1 and (object_ref = $2 or order_id = $3)`,
			Args: []any{provider, session, id}, WantRows: eventstore.AnyRows,
		},
	}
}
