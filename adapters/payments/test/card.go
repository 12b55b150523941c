package test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// The provider keeps the card of a session whose customer agrees. What it does when it is
// charged is chosen on the page (docs/storefront.md, "Test checkout").

// cards are the last digits of each sort of card, by what it does when it is charged.
var cards = map[string]string{"succeed": "4242", "decline": "0341", "authenticate": "3184", "disappear": "0002"}

// CardActions are what a kept card can do when it is charged.
var CardActions = []string{"succeed", "decline", "authenticate", "disappear"}

// Why charges fail.
var declines = map[string]string{"decline": "card_declined", "authenticate": order.NeedsCustomer, "disappear": order.MethodGone}

// cardYear is when the cards expire.
const cardYear = 2099

// keep writes down that the card of a session is kept.
func (p *Provider) keep(ctx context.Context, tx pgx.Tx, session, does string) error {
	if does == "" {
		does = CardActions[0]
	}
	_, err := tx.Exec(ctx, `
		with kept as (insert into test_payments.cards (id, customer, last4, does) select $2, $3, $4, $5
			from test_payments.sessions where id = $1 and saves on conflict (id) do nothing returning id)
		update test_payments.sessions set kept = kept.id from kept where sessions.id = $1`,
		session, "pm_test_"+p.derive("card", session), "cus_test_"+p.derive("customer", session), cards[does], does)
	if err != nil {
		return fmt.Errorf("keep a test card: %w", err)
	}
	return nil
}

// kept is the card that a session has kept; nil: none.
func (p *Provider) kept(ctx context.Context, session string) (*order.SavedMethod, error) {
	m := order.SavedMethod{Kind: "card", Brand: "visa", ExpMonth: 12, ExpYear: cardYear}
	err := p.pool.QueryRow(ctx, `
		select c.id, c.customer, c.last4 from test_payments.sessions s join test_payments.cards c on c.id = s.kept
			where s.id = $1`, session).
		Scan(&m.Token, &m.Customer, &m.Last4)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return &m, err
}

// chargeable refuses a card that the provider does not keep.
func (p *Provider) chargeable(ctx context.Context, m *order.SavedMethod) error {
	var gone bool
	err := p.pool.QueryRow(ctx, `select gone_at is not null from test_payments.cards where id = $1`, m.Token).Scan(&gone)
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && gone:
		return domain.Fail(domain.Permanent, order.MethodGone, errors.New("no such card"))
	case err != nil:
		return unanswered("look for a card", err)
	}
	return nil
}

// Capture charges the kept card of a session that has no page. What has been charged
// already is a success.
func (p *Provider) Capture(ctx context.Context, c order.CaptureCall) error {
	about := faults.Call{Call: faults.Create, Kind: "charge", Name: c.Key}
	err := p.ordered.Around(ctx, about, func(faults.Fault) error { return unanswered("charge a card", p.capture(ctx, c)) })
	p.wake()
	return err
}

func (p *Provider) capture(ctx context.Context, c order.CaptureCall) error {
	var code string
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		s, err := load(ctx, tx, c.Session, "for update")
		if err != nil {
			return domain.Fail(domain.Permanent, "no_such_session", err)
		}
		if s.State != order.SessionOpen {
			code, err = outcomeOf(ctx, tx, s)
			return err
		}
		does, err := cardOf(ctx, tx, s.ID)
		if err != nil {
			return err
		}
		code = declines[does]
		return p.charge(ctx, tx, s, does, code)
	})
	if err == nil && code != "" {
		err = domain.Fail(domain.Permanent, code, errors.New("the card was not charged"))
	}
	return err
}

// outcomeOf is why the charge of a session that is over has failed; "": it has not.
func outcomeOf(ctx context.Context, tx pgx.Tx, s row) (code string, err error) {
	err = tx.QueryRow(ctx, `select code from test_payments.payments where session = $1 and id = $2`, s.ID, s.paymentID).Scan(&code)
	if errors.Is(err, pgx.ErrNoRows) {
		return "session_closed", nil
	}
	return code, err
}

// cardOf is what the card of a charge does.
func cardOf(ctx context.Context, tx pgx.Tx, session string) (does string, err error) {
	err = tx.QueryRow(ctx, `
		select case when c.gone_at is null then c.does else 'disappear' end
		from test_payments.sessions s join test_payments.cards c on c.id = s.charges where s.id = $1`, session).Scan(&does)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", domain.Fail(domain.Permanent, "not_approved", errors.New("the session has a page"))
	}
	return does, err
}

func (p *Provider) charge(ctx context.Context, tx pgx.Tx, s row, does, code string) error {
	if _, err := tx.Exec(ctx, `update test_payments.sessions set state = 'complete' where id = $1`, s.ID); err != nil {
		return err
	}
	pay := order.Payment{ID: s.paymentID, State: order.StatePaid, Minor: s.Minor, Currency: s.Currency, Code: code, At: p.Now()}
	if code != "" {
		pay.State = order.StateFailed
	}
	if does == "disappear" {
		if _, err := tx.Exec(ctx, `update test_payments.cards set gone_at = $2 where id = (select charges
			from test_payments.sessions where id = $1)`, s.ID, p.Now()); err != nil {
			return err
		}
	}
	if err := book(ctx, tx, s.ID, pay); err != nil || code != "" {
		return err
	}
	return enqueue(ctx, tx, []string{happened(completed, s, s.Minor, s.Currency, "paid")}, p.Now(), p.Now())
}

// Forget removes a kept card.
func (p *Provider) Forget(ctx context.Context, m order.SavedMethod) error {
	return p.ordered.Around(ctx, faults.Call{Call: faults.Remove, Kind: "card", Name: m.Token}, func(faults.Fault) error {
		_, err := p.pool.Exec(ctx, `update test_payments.cards set gone_at = coalesce(gone_at, $2) where id = $1`, m.Token, p.Now())
		return unanswered("forget a card", err)
	})
}

// isCard tells whether a card can do this when it is charged; "": the usual one.
func isCard(does string) bool { return does == "" || slices.Contains(CardActions, does) }
