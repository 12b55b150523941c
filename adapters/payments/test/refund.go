package test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// Refund gives back a part or all of a payment, at once, and tells so by a
// webhook. The same key answers with the same refund; with another amount, or
// more than is left of the payment, it is refused for good.
func (p *Provider) Refund(ctx context.Context, c order.RefundCall) (r order.Refund, err error) {
	about := faults.Call{Call: faults.Create, Kind: "refund", Name: c.Reference}
	err = p.ordered.Around(ctx, about, func(faults.Fault) error {
		r, err = p.refund(ctx, c)
		return unanswered("refund", err)
	})
	switch {
	case err != nil:
		return order.Refund{}, err
	case r.ID == "":
		return r, domain.Fail(domain.Unknown, "garbage", errors.New("the answer has no refund"))
	}
	p.wake()
	return r, nil
}

func (p *Provider) refund(ctx context.Context, c order.RefundCall) (r order.Refund, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		s, err := load(ctx, tx, c.Session, "for update")
		if err != nil {
			return domain.Fail(domain.Permanent, "no_such_session", err)
		}
		if r, err = refundUnder(ctx, tx, c); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if err := covers(ctx, tx, c); err != nil {
			return err
		}
		r = order.Refund{
			ID: "re_test_" + p.derive("refund", c.Key), State: order.RefundSucceeded, Minor: c.Minor, Currency: strings.ToUpper(c.Currency),
			Reference: c.Reference, At: p.Now(),
		}
		return p.giveBack(ctx, tx, s, c, r)
	})
	return r, err
}

// refundUnder is the refund that this key has made already.
func refundUnder(ctx context.Context, tx pgx.Tx, c order.RefundCall) (r order.Refund, err error) {
	var payment string
	err = tx.QueryRow(ctx, `select id, state, minor, currency, reference, at, payment from test_payments.refunds where key = $1`, c.Key).
		Scan(&r.ID, &r.State, &r.Minor, &r.Currency, &r.Reference, &r.At, &payment)
	if err == nil && (r.Minor != c.Minor || payment != c.Payment || !strings.EqualFold(r.Currency, c.Currency)) {
		err = domain.Fail(domain.Permanent, "key_reused", errors.New("the key belongs to another request"))
	}
	return r, err
}

// covers makes sure that so much is left of the payment.
func covers(ctx context.Context, tx pgx.Tx, c order.RefundCall) error {
	var left int64
	err := tx.QueryRow(ctx, `
		select minor - coalesce((select sum(minor) from test_payments.refunds r
				where r.session = p.session and r.payment = p.id and r.currency = p.currency and r.state <> 'failed'), 0)::bigint
			- coalesce((select sum(minor) from test_payments.disputes d
				where d.session = p.session and d.payment = p.id and d.currency = p.currency and d.state = 'lost'), 0)::bigint
		from test_payments.payments p where session = $1 and id = $2 and state = 'paid' and currency = upper($3)`,
		c.Session, c.Payment, c.Currency).Scan(&left)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return domain.Fail(domain.Permanent, "no_such_payment", errors.New("nothing was paid like this"))
	case err == nil && (c.Minor <= 0 || c.Minor > left):
		return domain.Fail(domain.Permanent, "amount_too_large", fmt.Errorf("only %d are left", left))
	}
	return err
}

func (p *Provider) giveBack(ctx context.Context, tx pgx.Tx, s row, c order.RefundCall, r order.Refund) error {
	_, err := tx.Exec(ctx, `
		insert into test_payments.refunds (id, session, payment, reference, key, state, minor, currency, at) values ($1,
			$2, $3, $4, $5, $6, $7, $8, $9)`,
		r.ID, s.ID, c.Payment, r.Reference, c.Key, r.State, r.Minor, r.Currency, r.At)
	if err != nil || s.silent {
		return err
	}
	e := happening(refunded, s, r.Minor, r.Currency, "paid")
	e.ID, e.Data.Object.Payment = r.ID, c.Payment
	return enqueue(ctx, tx, []string{e.text()}, p.Now(), p.Now())
}

// bookRefund writes down what an event says of a refund. What is known of it
// already is not taken back, but a refund may still succeed or fail.
func (p *Provider) bookRefund(ctx context.Context, tx pgx.Tx, s row, e event) error {
	o := e.Data.Object
	_, err := tx.Exec(ctx, `
		insert into test_payments.refunds as r (id, session, payment, state, minor, currency, at) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (id) do update set state = excluded.state
		where r.session = excluded.session and (r.state = 'pending' or excluded.state = 'failed')`,
		orElse(o.Refund, e.ID), s.ID, orElse(o.Payment, s.paymentID), orElse(o.State, string(order.RefundSucceeded)),
		*o.Amount, strings.ToUpper(o.Currency), p.Now())
	return err
}

// bookDispute writes down what an event says of a dispute. What has been
// decided stays decided.
func (p *Provider) bookDispute(ctx context.Context, tx pgx.Tx, s row, e event) error {
	o, state := e.Data.Object, string(order.DisputeOpen)
	if e.Type == disputeClosed {
		state = o.State
	}
	_, err := tx.Exec(ctx, `
		insert into test_payments.disputes as d (id, session, payment, state, minor, currency, at) values ($1, $2, $3, $4, $5, $6, $7)
		on conflict (id) do update set state = excluded.state where d.session = excluded.session and d.state = 'open'`,
		orElse(o.Dispute, e.ID), s.ID, orElse(o.Payment, s.paymentID), state, *o.Amount, strings.ToUpper(o.Currency), p.Now())
	return err
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
