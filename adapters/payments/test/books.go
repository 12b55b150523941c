package test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// Apply brings the books up to what a verified event says, so that a holder of
// the secret can act as the provider without the page. Call it after
// [Provider.Verify] and before the event is stored. An event of another type or
// session, one that says unpaid, and one that is known change nothing.
func (p *Provider) Apply(ctx context.Context, raw []byte) error {
	e, err := read(raw)
	if err != nil {
		return domain.Refuse(domain.Invalid, "Invalid event.")
	}
	if !e.handled() || e.Type == completed && e.Data.Object.Status == "unpaid" {
		return nil
	}
	if news, err := p.isNews(ctx, e); err != nil || !news {
		return err
	}
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		s, err := load(ctx, tx, e.Data.Object.Session, "for update")
		if err != nil {
			return err
		}
		return p.apply(ctx, tx, s, e)
	})
	if err != nil {
		return fmt.Errorf("apply a test event: %w", err)
	}
	return nil
}

// isNews spares the provider's own webhooks, which tell what the books say
// already, the transaction.
func (p *Provider) isNews(ctx context.Context, e event) (news bool, err error) {
	o := e.Data.Object
	err = p.pool.QueryRow(ctx, `
		select case $2
			when 'checkout.session.expired' then state = 'open'
			when 'checkout.session.completed' then not (state = 'complete' and $3 in ('', reference) and (setup or exists (
				select from test_payments.payments p
				where p.session = s.id and p.id = coalesce(nullif($4, ''), s.payment_id) and p.state = 'paid')))
			else true end
		from test_payments.sessions s where id = $1`, o.Session, e.Type, o.Reference, o.Payment).Scan(&news)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("compare a test event with the books: %w", err)
	}
	return news, nil
}

func (p *Provider) apply(ctx context.Context, tx pgx.Tx, s row, e event) error {
	o := e.Data.Object
	switch e.Type {
	case completed:
		return p.complete(ctx, tx, s, o)
	case expired:
		_, err := tx.Exec(ctx, `update test_payments.sessions set state = 'expired' where id = $1 and state = 'open'`, s.ID)
		return err
	case refunded, refundUpdated:
		return p.bookRefund(ctx, tx, s, e)
	case disputeOpened, disputeClosed:
		return p.bookDispute(ctx, tx, s, e)
	}
	return nil
}

// complete books what the event says was paid, late or not, and for whose order.
func (p *Provider) complete(ctx context.Context, tx pgx.Tx, s row, o object) error {
	_, err := tx.Exec(ctx, `
		update test_payments.sessions set state = 'complete', settle_at = null, reference = coalesce(nullif($2, ''),
			reference) where id = $1`,
		s.ID, o.Reference)
	if err != nil {
		return err
	}
	if s.Setup { // nothing is paid
		return p.keep(ctx, tx, s.ID, "")
	}
	if o.Payment == "" {
		o.Payment = s.paymentID
	}
	return book(
		ctx, tx, s.ID,
		order.Payment{ID: o.Payment, State: order.StatePaid, Minor: *o.Amount, Currency: strings.ToUpper(o.Currency), At: p.Now()},
	)
}

// mature lets happen what time brings: unpaid sessions expire, and what was to
// be settled is paid. An empty id is all sessions, some at a time.
func (p *Provider) mature(ctx context.Context, id string) error {
	const due = `from test_payments.sessions where (settle_at <= $1 or state = 'open' and expires_at <= $1) and ($2 = '' or id = $2)`
	var any bool
	if err := p.pool.QueryRow(ctx, `select exists (select `+due+`)`, p.Now(), id).Scan(&any); err != nil || !any {
		return err
	}
	err := pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `select id `+due+` order by id limit 100 for update`, p.Now(), id)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		for _, id := range ids {
			err = errors.Join(err, p.ripen(ctx, tx, id))
		}
		return err
	})
	p.wake()
	return err
}

func (p *Provider) ripen(ctx context.Context, tx pgx.Tx, id string) error {
	s, err := load(ctx, tx, id, "")
	if err != nil {
		return err
	}
	var body string
	if s.State == order.SessionOpen {
		_, err = tx.Exec(ctx, `update test_payments.sessions set state = 'expired' where id = $1`, id)
		body = happened(expired, s, s.Minor, s.Currency, "unpaid")
	} else {
		body, err = p.settle(ctx, tx, s)
	}
	if err != nil || s.silent {
		return err
	}
	return enqueue(ctx, tx, []string{body}, p.Now(), p.Now())
}

func (p *Provider) settle(ctx context.Context, tx pgx.Tx, s row) (string, error) {
	var amount int64
	var in string
	err := tx.QueryRow(ctx, `
		with settled as (update test_payments.sessions set settle_at = null where id = $1)
		update test_payments.payments set state = 'paid', at = $3 where session = $1 and id = $2 returning minor, currency`,
		s.ID, s.paymentID, p.Now()).Scan(&amount, &in)
	return happened(completed, s, amount, in, "paid"), err
}
