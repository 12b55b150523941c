package test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/clock"
)

// A provider delivers a webhook until it is taken with a 2xx: again after each
// of these, then every last one of them, for three days.
var again = []time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
	3 * time.Hour, 6 * time.Hour,
}

const (
	atOnce   = 8                // deliveries
	patience = 10 * time.Second // with one answer
	lease    = 30 * time.Second // of a delivery; more than patience
	lifetime = 72 * time.Hour   // of a webhook that is not accepted, and of what is over
	poll     = time.Second      // how often to look without being woken
)

// enqueue writes webhooks down in the transaction of what they tell.
func enqueue(ctx context.Context, tx pgx.Tx, bodies []string, now, due time.Time) error {
	_, err := tx.Exec(ctx, `insert into test_payments.webhooks (body, made_at, due_at) select unnest($1::text[]), $2, $3`, bodies, now, due)
	if err != nil {
		return fmt.Errorf("write webhooks down: %w", err)
	}
	return nil
}

func (p *Provider) wake() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// Run delivers webhooks until ctx ends, several at once. Any number of
// processes may run it. A database that is away is waited for.
func (p *Provider) Run(ctx context.Context) error {
	d := &delivery{Provider: p, slots: make(chan struct{}, atOnce), client: &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{MaxConnsPerHost: atOnce, MaxIdleConnsPerHost: atOnce, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	defer d.client.CloseIdleConnections()
	defer d.running.Wait()
	for ctx.Err() == nil {
		wait, err := d.round(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.Warn("test payments: deliver webhooks", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-p.news:
		case <-time.After(wait):
		}
	}
	return nil
}

type delivery struct {
	*Provider
	client  *http.Client
	slots   chan struct{}
	running sync.WaitGroup
}

// A webhook is one that is being delivered.
type webhook struct {
	ID     int64
	Body   string
	Tries  int
	MadeAt time.Time
}

// round starts what is due as far as there are free slots, and says how long
// nothing else will be.
func (d *delivery) round(ctx context.Context) (time.Duration, error) {
	if err := d.mature(ctx, ""); err != nil {
		return poll, err
	}
	claimed, err := d.claim(ctx, atOnce-len(d.slots))
	if err != nil {
		return poll, err
	}
	for _, w := range claimed {
		d.slots <- struct{}{}
		d.running.Go(func() {
			d.deliver(ctx, w)
			<-d.slots
			d.wake()
		})
	}
	return d.nothingFor(ctx)
}

// claim leases what is due. Its answer is waited for even when the program is ending:
// otherwise a webhook would wait for the end of its lease.
func (d *delivery) claim(ctx context.Context, free int) ([]webhook, error) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	rows, err := d.pool.Query(ctx, `
		update test_payments.webhooks set lease_until = real_now() + $3::interval, tries = tries + 1
		where id in (select id from test_payments.webhooks where over_at is null and due_at <= $1 and lease_until < real_now()
		             order by due_at limit $2 for update skip locked)
		returning id, body, tries, made_at`, d.Now(), free, lease)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[webhook])
}

// lasting is a context for a statement that is not cut short by the end of the program.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
}

// nothingFor is the time to the next event that is known, one poll at most.
func (d *delivery) nothingFor(ctx context.Context) (time.Duration, error) {
	if len(d.slots) == cap(d.slots) {
		return poll, nil // a slot that becomes free wakes
	}
	var next *time.Time
	err := d.pool.QueryRow(ctx, `
		select least((select min(due_at) from test_payments.webhooks where over_at is null and lease_until < real_now()),
		             (select min(settle_at) from test_payments.sessions))`).Scan(&next)
	if err != nil || next == nil {
		return poll, err
	}
	return max(0, min(poll, next.Sub(d.Now()))), nil
}

// deliver tries once. What it learns is kept even when the program is ending;
// a try that was cut short by that is made again at once.
func (d *delivery) deliver(ctx context.Context, w webhook) {
	status, err := d.post(ctx, w.Body)
	now, over, wait := d.Now(), (*time.Time)(nil), time.Duration(0)
	switch {
	case status/100 == 2, now.Sub(w.MadeAt) > lifetime:
		over = &now
	case ctx.Err() == nil:
		wait = again[min(w.Tries, len(again))-1]
	}
	keep, cancel := lasting(ctx)
	defer cancel()
	_, stored := d.pool.Exec(keep, `
		with old as (delete from test_payments.webhooks where over_at < $2::timestamptz - $5::interval)
		update test_payments.webhooks set over_at = $3, due_at = $2::timestamptz + $4::interval,
			lease_until = '-infinity', status = $6 where id = $1`,
		w.ID, now, over, wait, lifetime, status)
	if err = errors.Join(err, stored); err != nil && ctx.Err() == nil {
		d.Log.Warn("test payments: a webhook was not delivered", "webhook", w.ID, "try", w.Tries, "error", err)
	}
}

// post signs the body with the present time, as a provider does at each try.
func (d *delivery) post(ctx context.Context, body string) (int, error) {
	to := strings.TrimSuffix(d.PublicURL(), "/") + "/storefront/webhooks/test/"
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("the panel's public address: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(Header, Sign(d.Secret, []byte(body), clock.Now()))
	answer, err := d.client.Do(r)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		err = fmt.Errorf("answered with %d", answer.StatusCode)
	}
	return answer.StatusCode, err
}
