package assembly

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// errProviderAway is what a customer is told when no session could be opened.
var errProviderAway = &domain.Error{
	Code: domain.Unavailable, Reason: "payment_provider_unavailable", Message: "The payment provider is temporarily unavailable.",
}

// OpenSession sends the customer of a pending order to the provider: the call
// is made with nothing open, under a key that never changes, and its answer is
// one append with the row that watches over the payment (rules T2, T3). Asked
// again it answers with the same session. If the provider does not answer in
// time, the order stays pending and the answer has reason
// "payment_provider_unavailable".
func (s *Panel) OpenSession(ctx context.Context, id uuid.UUID) (order.Session, error) {
	ctx, cancel := context.WithTimeout(ctx, s.times.SessionBudget+s.times.Write)
	defer cancel()
	o, err := s.order(ctx, id)
	if err != nil {
		return order.Session{}, err
	}
	p, ok := s.payments[o.PaymentMethod]
	switch {
	case o.SessionID != "":
		return sessionOfOrder(o), nil
	case o.Status != order.StatusPending:
		return order.Session{}, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The order cannot be paid any more."}
	case !ok:
		return order.Session{}, errProviderAway
	}
	generation, err := s.intendSession(ctx, o)
	if err != nil {
		return order.Session{}, err
	}
	if generation == 0 {
		return s.keptSession(ctx, id)
	}
	session, err := s.askForSession(ctx, p, s.checkoutOf(o, generation))
	if err != nil {
		return order.Session{}, s.sessionFailed(ctx, o, err)
	}
	if err := s.keepSession(ctx, o, p, session); domain.CodeOf(err) == domain.Conflict {
		return s.keptSession(ctx, id)
	} else if err != nil {
		return order.Session{}, err
	}
	return session, nil
}

// keptSession is that of another request for the same order, which was faster.
func (s *Panel) keptSession(ctx context.Context, id uuid.UUID) (order.Session, error) {
	o, err := s.order(ctx, id)
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

func (s *Panel) checkoutOf(o projections.Order, generation int) order.Checkout {
	back := s.publicURL() + "/storefront/return/" + o.ID.String() + "/?outcome="
	return order.Checkout{
		Order: o.ID, Number: o.OrderNumber, EffectKey: fmt.Sprintf("order/%s/session/%d", o.ID, generation), Minor: o.Minor, Currency: o.Currency, Total: o.Total,
		Description: o.PlanName, Email: o.CustomerEmail, Language: o.Language,
		ReturnURL: back + "success", CancelURL: back + "cancel", ExpiresAt: o.CreatedAt.Add(s.times.SessionLife),
	}
}

// intendSession writes down, before the call, that a session may be opened,
// and makes sure that somebody watches over the order. The answer is the
// generation of the key to open it under: a key that brought no answer, which
// the provider may repeat for a day, is not used again. A session that was
// opened under it all the same cannot be paid, because nobody got its page
// (rules T4, S-6). The answer is 0 if one has been opened meanwhile.
func (s *Panel) intendSession(ctx context.Context, o projections.Order) (generation int, err error) {
	request := map[string]any{"order": o.ID, "minor": o.Minor, "currency": o.Currency, "provider": o.PaymentMethod}
	err = s.pool.QueryRow(ctx, `
		insert into effect (key, saga_id, step, state, request_mac, sent_at, sends, token) values ($1, $2, 'session', 'intended', ($3::bytea[])[1], real_now(), 1, 0)
		on conflict (key) do update set sent_at = real_now(), sends = effect.sends + 1, updated_at = real_now(), state = 'intended',
			generation = effect.generation + case when effect.state = 'unknown' or effect.keyed_at < real_now() - $4::interval then 1 else 0 end,
			keyed_at = case when effect.state = 'unknown' or effect.keyed_at < real_now() - $4::interval then real_now() else effect.keyed_at end
		where effect.request_mac = any($3) and effect.state in ('intended', 'unknown', 'absent') returning generation`,
		sagas.EffectKey(o.ID, "session"), o.ID, s.store.Keys().MACs("effect request", sagas.Encode(request)), s.times.KeyLife).Scan(&generation)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return 0, nil
	case err != nil:
		return 0, sagas.SQLError(err, "intend a session")
	}
	return generation, s.watchPending(ctx, o.ID, o.PaymentMethod, o.CreatedAt)
}

// sessionTries is how often a session is asked for in one request.
const sessionTries = 2

func (s *Panel) askForSession(ctx context.Context, p Payments, c order.Checkout) (session order.Session, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.times.SessionBudget)
	defer cancel()
	for try := range sessionTries {
		if try > 0 {
			sagas.Pausing(ctx, s.times.SessionPause, nil)
		}
		call, done := context.WithTimeout(ctx, s.times.SessionCall)
		session, err = p.OpenSession(call, c)
		done()
		if err == nil || domain.ClassOf(err) == domain.Permanent || ctx.Err() != nil {
			return session, err
		}
	}
	return session, err
}

func (s *Panel) sessionFailed(ctx context.Context, o projections.Order, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	s.Log().WarnContext(ctx, "no session was opened", "order", o.ID, "provider", o.PaymentMethod, "error", sagas.Scrub(failure))
	row := eventstore.TxStatement{
		Key: "effect/" + sagas.EffectKey(o.ID, "session"), SQL: `update effect set state = $2, updated_at = real_now() where key = $1 and state = 'intended'`,
		Args: []any{sagas.EffectKey(o.ID, "session"), string(endOf(failure))}, WantRows: eventstore.AnyRows,
	}
	fail := order.FailSession{ID: o.ID, Code: sagas.CodeOf(failure), At: s.Now()}
	if _, err := s.store.ExecuteWith(ctx, s.system("checkout", o.ID), []eventstore.TxStatement{row}, fail); err != nil {
		return errors.Join(errProviderAway, err)
	}
	return errProviderAway
}

// endOf is what the ledger knows after a call that failed.
func endOf(failure error) sagas.EffectState {
	if class := domain.ClassOf(failure); class == domain.Transient || class == domain.Permanent {
		return sagas.EffectAbsent
	}
	return sagas.EffectUnknown
}

// keepSession makes the session the order's own and has its payment watched.
// News of it that came earlier find their order now (rule I-11).
func (s *Panel) keepSession(ctx context.Context, o projections.Order, p Payments, session order.Session) error {
	key := sagas.EffectKey(o.ID, "session")
	rows := []eventstore.TxStatement{
		{
			Key:  "effect/" + key,
			SQL:  `update effect set state = 'confirmed', external_id = $2, updated_at = real_now() where key = $1`,
			Args: []any{key, session.ID}, WantRows: 1,
		},
		{
			Key: "payment_watch/" + o.ID.String(),
			SQL: `update payment_watch set provider_ref = $2, reason = 'session', next_at = business_now() + $3::interval, wakes = wakes + 1
				where order_id = $1`,
			Args: []any{o.ID, session.ID, s.times.SessionChecks[0]}, WantRows: 1,
		},
		{
			Key: "webhook_inbox/" + o.ID.String(),
			SQL: `update webhook_inbox set state = 'stored', attempts = 0, next_at = business_now()
				where state = 'unmatched' and provider = $1 and (object_ref = $2 or order_id = $3)`,
			Args: []any{p.Name(), session.ID, o.ID}, WantRows: eventstore.AnyRows,
		},
	}
	open := order.OpenSession{ID: o.ID, Session: session, Host: p.Host(), At: s.Now()}
	_, err := s.store.ExecuteWith(ctx, s.system("checkout", o.ID), rows, open)
	if err != nil {
		s.Alarm(ctx, "a session that was opened cannot be used", "order", o.ID, "provider", p.Name(), "error", sagas.Scrub(err))
		return fmt.Errorf("keep session of order %s: %w", o.ID, err)
	}
	s.Wake(inboxQueue)
	return nil
}

// watchPending makes the watch row of an order that has been placed: without
// a session it is given up after a while (rule T4).
func (s *Panel) watchPending(ctx context.Context, id uuid.UUID, provider string, placed time.Time) error {
	_, err := s.Exec(ctx, "watch an order", `
		insert into payment_watch (order_id, provider, reason, next_at) values ($1, $2, 'placed', $3) on conflict do nothing`,
		id, provider, placed.Add(s.times.PendingTTL))
	return err
}

// system is the cause of what the program does of its own accord.
func (s *Panel) system(what string, order uuid.UUID) domain.Metadata {
	return domain.Metadata{ID: uuid.New(), Actor: "system:" + what, Correlation: order}
}
