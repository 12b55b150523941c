package test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// A row is a session as the books have it.
type row struct {
	order.HostedSession
	paymentID string
	settleAt  *time.Time
	silent    bool
	charges   bool // a kept card, without a page
}

// pages is where the payment pages are in the panel.
const pages = "/storefront/checkout/" + name + "/"

// PagePath is the path of a session's page, as a pattern of routes.
func (*Provider) PagePath() string { return pages + "{session:cs_test_[0-9A-Za-z]{24}}/" }

// Session returns a session for its page.
func (p *Provider) Session(ctx context.Context, id string) (order.HostedSession, error) {
	if err := p.mature(ctx, id); err != nil {
		return order.HostedSession{}, fmt.Errorf("read a test session: %w", err)
	}
	s, err := load(ctx, p.pool, id, "")
	return s.HostedSession, cmp.Or(err, s.pageless())
}

// pageless refuses a page to a session that charges a kept card.
func (s row) pageless() error {
	if s.charges {
		return domain.Refuse(domain.NotFound, "Not found.")
	}
	return nil
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func load(ctx context.Context, db querier, id, lock string) (row, error) {
	s := row{HostedSession: order.HostedSession{ID: id}}
	err := db.QueryRow(ctx, `
		select order_id, number, minor, currency, description, language, state, return_url, cancel_url, expires_at,
			saves, setup, payment_id, settle_at, silent, charges is not null,
		       coalesce((select state from test_payments.payments p where p.session = s.id and p.id = s.payment_id), '')
		from test_payments.sessions s where id = $1 `+lock, id).
		Scan(&s.Order, &s.Number, &s.Minor, &s.Currency, &s.Description, &s.Language, &s.State, &s.ReturnURL, &s.CancelURL,
			&s.ExpiresAt, &s.Saves, &s.Setup, &s.paymentID, &s.settleAt, &s.silent, &s.charges, &s.Payment)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, domain.Refuse(domain.NotFound, "Not found.")
	}
	if err != nil {
		return s, fmt.Errorf("read a test session: %w", err)
	}
	return s, nil
}

// A button is what one action on the page makes of a session.
type button struct {
	session order.SessionState
	payment order.PaymentState // empty: no payment
	event   string             // empty: no webhook
	status  string             // of the payment, in the webhook
}

var buttons = map[string]button{
	"pay":     {order.SessionComplete, order.StatePaid, completed, "paid"},
	"unpaid":  {order.SessionComplete, order.StatePending, completed, "unpaid"},
	"decline": {order.SessionOpen, order.StateDeclined, "", ""},
	"cancel":  {order.SessionExpired, "", expired, "unpaid"},
	"expire":  {order.SessionExpired, "", expired, "unpaid"},
}

// maxCopies bounds the webhooks of one press, longest what may be put off.
const (
	maxCopies = 200
	longest   = 14 * 24 * time.Hour
)

// Act presses a button on the page and returns the session after it. The
// webhooks are written down in the same transaction, so none is lost. A second
// press of the same button changes nothing; another one on a session that is
// over is a conflict.
func (p *Provider) Act(ctx context.Context, a order.HostedAction) (order.HostedSession, error) {
	b, err := checked(a)
	if err != nil {
		return order.HostedSession{}, err
	}
	if err := p.mature(ctx, a.Session); err != nil {
		return order.HostedSession{}, fmt.Errorf("press %s: %w", a.Action, err)
	}
	var s row
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if s, err = load(ctx, tx, a.Session, "for update"); err != nil {
			return err
		}
		if err := s.pageless(); err != nil {
			return err
		}
		if s.State == b.session && (s.Payment == b.payment || s.Setup) && s.State != order.SessionOpen ||
			s.State == order.SessionExpired && b.session == order.SessionExpired {
			return nil
		}
		if s.State != order.SessionOpen {
			return &domain.Error{Code: domain.Conflict, Message: "The session is no longer open.", Reason: "session_closed"}
		}
		return p.press(ctx, tx, &s, a, b)
	})
	if err != nil {
		return order.HostedSession{}, err
	}
	p.wake()
	return s.HostedSession, nil
}

func checked(a order.HostedAction) (button, error) {
	b, known := buttons[a.Action]
	switch {
	case !known:
		return b, domain.RefuseField("action", fmt.Sprintf("\"%s\" is not a valid choice.", a.Action))
	case a.Amount != nil && *a.Amount < 0:
		return b, domain.RefuseField("amount", "Ensure this value is greater than or equal to 0.")
	case a.Currency != "" && !currency.MatchString(a.Currency):
		return b, domain.RefuseField("currency", "Enter three letters.")
	case !isCard(a.Card):
		return b, domain.RefuseField("card", fmt.Sprintf("\"%s\" is not a valid choice.", a.Card))
	case a.Copies < 0 || a.Copies > maxCopies:
		return b, domain.RefuseField("copies", fmt.Sprintf("Ensure this value is less than or equal to %d.", maxCopies))
	case a.Delay < 0 || a.Delay > longest:
		return b, domain.RefuseField("delay_ms", "Ensure this value is from 0 to 14 days.")
	case a.Settle < 0 || a.Settle > longest:
		return b, domain.RefuseField("settle_ms", "Ensure this value is from 0 to 14 days.")
	}
	return b, nil
}

func (p *Provider) press(ctx context.Context, tx pgx.Tx, s *row, a order.HostedAction, b button) error {
	now, amount, in := p.Now(), s.Minor, s.Currency
	if a.Amount != nil {
		amount = *a.Amount
	}
	if a.Currency != "" {
		in = strings.ToUpper(a.Currency)
	}
	var settle *time.Time
	if a.Action == "unpaid" && a.Settle > 0 && !s.Setup {
		at := now.Add(a.Settle)
		settle = &at
	}
	_, err := tx.Exec(
		ctx, `update test_payments.sessions set state = $2, settle_at = $3, silent = $4 where id = $1`, s.ID,
		b.session, settle, a.Drop,
	)
	if err != nil {
		return fmt.Errorf("press %s: %w", a.Action, err)
	}
	if b.session == order.SessionComplete {
		if err := p.keep(ctx, tx, s.ID, a.Card); err != nil {
			return err
		}
	}
	s.State, s.silent = b.session, a.Drop
	if b.payment != "" && !s.Setup {
		s.Payment = b.payment
		if err := book(ctx, tx, s.ID, order.Payment{ID: s.paymentID, State: b.payment, Minor: amount, Currency: in, At: now}); err != nil {
			return err
		}
	}
	if b.event == "" || a.Drop {
		return nil
	}
	return enqueue(ctx, tx, copies(a, func() string { return happened(b.event, *s, amount, in, b.status) }), now, now.Add(a.Delay))
}

// copies makes the bodies: all the same, or each an event of its own.
func copies(a order.HostedAction, body func() string) []string {
	bodies := make([]string, max(a.Copies, 1))
	for i := range bodies {
		if i == 0 || a.Distinct {
			bodies[i] = body()
			continue
		}
		bodies[i] = bodies[0]
	}
	return bodies
}

// book writes a payment down. What is paid stays as it was paid.
func book(ctx context.Context, tx pgx.Tx, session string, pay order.Payment) error {
	_, err := tx.Exec(ctx, `
		insert into test_payments.payments as p (session, id, state, minor, currency, code, at) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (session, id) do update set state = excluded.state, minor = excluded.minor,
			currency = excluded.currency, code = excluded.code, at = excluded.at
		where p.state <> 'paid'`, session, pay.ID, pay.State, pay.Minor, pay.Currency, pay.Code, pay.At)
	if err != nil {
		return fmt.Errorf("book a test payment: %w", err)
	}
	return nil
}
