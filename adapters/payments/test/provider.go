// Package test is a payment provider without money. Nothing else about it is
// a shortcut: it has its own books, its own page with buttons, webhooks that
// it signs and delivers over HTTP until they are taken, and only what its
// books say counts as paid (docs/adapters.md, "The test provider"; rule X-1).
package test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore/clock"
)

// Migrations make the provider's tables. They need those of package faults.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Options are what the provider needs to know of the panel.
type Options struct {
	PublicURL func() string    // of the panel, without a slash at the end
	Secret    []byte           // signs webhooks; without one nothing can be verified
	Former    [][]byte         // secrets that still verify, while the secret is being changed
	Now       func() time.Time // of the books; nil: clock.Now
	Log       *slog.Logger
}

// A Provider is the test provider.
type Provider struct {
	Options
	pool    *pgxpool.Pool
	ordered *faults.Ordered
	news    chan struct{} // a webhook may be due
}

// New returns the provider whose books stand in the schema test_payments.
func New(pool *pgxpool.Pool, o Options) *Provider {
	o.Now = clock.Or(o.Now)
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Provider{Options: o, pool: pool, ordered: faults.For(pool, "payments"), news: make(chan struct{}, 1)}
}

// Name is that of the provider in orders.
func (p *Provider) Name() string { return name }

// Host is where the payment page is: the panel's own.
func (p *Provider) Host() string {
	u, err := url.Parse(p.PublicURL())
	if err != nil {
		return ""
	}
	return u.Host
}

// WebhookSecret signs the webhooks.
func (p *Provider) WebhookSecret() string { return string(p.Secret) }

// Faults are what has been ordered to go wrong: "create", "find" and "remove"
// are opening, fetching and expiring, and the kind is "session"; "create" of
// the kind "refund" is giving money back. "create" of the kind "charge" is charging a kept
// card, and "remove" of the kind "card" is removing it.
func (p *Provider) Faults() *faults.Ordered { return p.ordered }

func call(what, name string) faults.Call {
	return faults.Call{Call: what, Kind: "session", Name: name}
}

// OpenSession opens a payment page. The same effect key answers with the same
// session; with another order or amount it is refused for good.
func (p *Provider) OpenSession(ctx context.Context, c order.Checkout) (s order.Session, err error) {
	err = p.ordered.Around(ctx, call(faults.Create, c.Number), func(faults.Fault) error {
		s, err = p.open(ctx, c)
		return err
	})
	if err == nil && s.ID == "" {
		return s, domain.Fail(domain.Unknown, "garbage", errors.New("the answer has no session"))
	}
	return s, err
}

// OpenSetup opens a page on which a card is added without a payment.
func (p *Provider) OpenSetup(ctx context.Context, c order.Checkout) (s order.Session, err error) {
	c.Minor, c.Save, c.Saved = 0, true, nil
	err = p.ordered.Around(ctx, call(faults.Create, c.Number), func(faults.Fault) error {
		s, err = p.openAs(ctx, c, true)
		return err
	})
	if err == nil && s.ID == "" {
		return s, domain.Fail(domain.Unknown, "garbage", errors.New("the answer has no session"))
	}
	return s, err
}

func (p *Provider) open(ctx context.Context, c order.Checkout) (order.Session, error) {
	return p.openAs(ctx, c, false)
}

func (p *Provider) openAs(ctx context.Context, c order.Checkout, setup bool) (order.Session, error) {
	if len(p.Secret) == 0 {
		return order.Session{}, domain.Fail(domain.Permanent, "not_configured", errors.New("the test provider has no secret"))
	}
	id := "cs_test_" + p.derive("session", c.EffectKey)
	if c.ExpiresAt.IsZero() {
		c.ExpiresAt = p.Now().Add(24*time.Hour - 5*time.Minute)
	}
	var charges *string
	if c.Saved != nil {
		if err := p.chargeable(ctx, c.Saved); err != nil {
			return order.Session{}, err
		}
		charges = &c.Saved.Token
	}
	_, err := p.pool.Exec(ctx, `
		insert into test_payments.sessions (id, effect_key, payment_id, order_id, reference, number, minor, currency, description, language,
			return_url, cancel_url, expires_at, made_at, saves, charges, setup)
		values ($1, $2, $3, $4, $4::uuid::text, $5, $6, upper($7), $8, $9, $10, $11, $12, $13, $14, $15, $16)
			on conflict (effect_key) do nothing`,
		id, c.EffectKey, "pay_test_"+p.derive("payment", id), c.Order, c.Number, c.Minor, c.Currency, c.Description, c.Language,
		c.ReturnURL, c.CancelURL, c.ExpiresAt, p.Now(), c.Save, charges, setup)
	if err != nil {
		return order.Session{}, unanswered("open a session", err)
	}
	var s order.Session
	var same bool
	err = p.pool.QueryRow(ctx, `
		select id, expires_at, order_id = $2 and minor = $3 and currency = upper($4) and setup = $5
			from test_payments.sessions where effect_key = $1`,
		c.EffectKey, c.Order, c.Minor, c.Currency, setup).Scan(&s.ID, &s.ExpiresAt, &same)
	if err != nil {
		return order.Session{}, unanswered("open a session", err)
	}
	if !same {
		return order.Session{}, domain.Fail(domain.Permanent, "key_reused", errors.New("the key belongs to another request"))
	}
	if c.Saved == nil {
		s.URL = strings.TrimSuffix(p.PublicURL(), "/") + pages + s.ID + "/"
	}
	return s, nil
}

// derive makes 24 characters of which the next cannot be guessed without the
// secret, and which are the same at every repeat.
func (p *Provider) derive(what, from string) string {
	mac := hmac.New(sha256.New, p.Secret)
	_, _ = fmt.Fprintf(mac, "%s\x00%s", what, from)
	return base62(mac.Sum(nil))
}

func base62(bytes []byte) string {
	text := new(big.Int).SetBytes(bytes).Text(62)
	return strings.Repeat("0", max(0, 24-len(text))) + text[max(0, len(text)-24):]
}

// Fetch reads the books: the truth about a session.
func (p *Provider) Fetch(ctx context.Context, id string) (f order.Fetched, err error) {
	err = p.ordered.Around(ctx, call(faults.Find, ""), func(faults.Fault) error {
		f, err = p.fetch(ctx, id)
		return err
	})
	if err != nil {
		return order.Fetched{}, err
	}
	return f, nil
}

func (p *Provider) fetch(ctx context.Context, id string) (order.Fetched, error) {
	if err := p.mature(ctx, id); err != nil {
		return order.Fetched{}, unanswered("fetch", err)
	}
	f := order.Fetched{Provider: p.Name(), Session: id}
	var reference string
	var setup bool
	created := order.Payment{State: order.StateCreated}
	err := p.pool.QueryRow(ctx, `
		select reference, state, expires_at, charges is not null, payment_id, minor, currency, made_at, setup
			from test_payments.sessions where id = $1`, id).
		Scan(&reference, &f.State, &f.ExpiresAt, &f.ByCapture, &created.ID, &created.Minor, &created.Currency, &created.At, &setup)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, domain.Fail(domain.Permanent, "no_such_session", errors.New("the provider has no such session"))
	}
	if err != nil {
		return f, unanswered("fetch", err)
	}
	f.Order, _ = uuid.Parse(reference) // an event may have put anything there; what is no order's id is no order
	if f.ByCapture && f.State == order.SessionOpen {
		f.State, f.Payments = order.SessionApproved, []order.Payment{created}
		return f, nil
	}
	if setup {
		f.Saved, err = p.kept(ctx, id)
		return f, unanswered("fetch", err)
	}
	rows, err := p.pool.Query(ctx, `select id, state, minor, currency, code, at from test_payments.payments
		where session = $1 order by at, id`, id)
	if err != nil {
		return f, unanswered("fetch", err)
	}
	f.Payments, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (pay order.Payment, err error) {
		return pay, row.Scan(&pay.ID, &pay.State, &pay.Minor, &pay.Currency, &pay.Code, &pay.At)
	})
	if err != nil {
		return f, unanswered("fetch", err)
	}
	saved, err := p.kept(ctx, id)
	for i := range f.Payments {
		f.Payments[i].Saved = saved
	}
	return f, unanswered("fetch", errors.Join(err, p.moneyBack(ctx, f)))
}

// moneyBack adds to each payment what has gone back of it, or is claimed back.
// What came before its payment waits for it in the books.
func (p *Provider) moneyBack(ctx context.Context, f order.Fetched) error {
	byID := map[string]*order.Payment{}
	for i := range f.Payments {
		byID[f.Payments[i].ID] = &f.Payments[i]
	}
	rows, err := p.pool.Query(ctx, `
		select payment, false, id, state, minor, currency, reference, at from test_payments.refunds where session = $1
		union all select payment, true, id, state, minor, currency, '', at from test_payments.disputes
			where session = $1 order by 8, 3`, f.Session)
	if err != nil {
		return err
	}
	var payment, state string
	var disputed bool
	var r order.Refund
	_, err = pgx.ForEachRow(rows, []any{&payment, &disputed, &r.ID, &state, &r.Minor, &r.Currency, &r.Reference, &r.At}, func() error {
		switch pay := byID[payment]; {
		case pay == nil:
		case disputed:
			pay.Disputes = append(
				pay.Disputes,
				order.Dispute{ID: r.ID, State: order.DisputeState(state), Minor: r.Minor, Currency: r.Currency, At: r.At},
			)
		default:
			r.State = order.RefundState(state)
			pay.Refunds = append(pay.Refunds, r)
		}
		return nil
	})
	return err
}

// Live says that no real money moves here.
func (*Provider) Live() bool { return false }

// ExpireSession makes sure that the session can no longer be paid. A session
// that is over already, paid or not, is a success; Fetch tells which.
func (p *Provider) ExpireSession(ctx context.Context, id string) error {
	return p.ordered.Around(ctx, call(faults.Remove, ""), func(faults.Fault) error {
		_, err := p.pool.Exec(ctx, `update test_payments.sessions set state = 'expired' where id = $1 and state = 'open'`, id)
		return unanswered("expire a session", err)
	})
}

// unanswered makes an error of the database what it would be with a real
// provider: no answer. Failures pass.
func unanswered(call string, err error) error {
	if _, classed := errors.AsType[*domain.Failure](err); classed || err == nil {
		return err
	}
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("test provider, %s: %w", call, err))
}
