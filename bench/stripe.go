package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/eventstore/clock"
)

// What signs the news of a made-up Stripe account.
const (
	stripeKey    = "sk_test_bench"
	stripeSecret = "whsec_bench"
)

var stripePadding = strings.Repeat("payload ", 350)

// stripeNews is a new event of 3 kB, as Stripe signs it.
func stripeNews(order uuid.UUID) (body []byte, header map[string][]string) {
	body = fmt.Appendf(nil, `{"id":"evt_%s","object":"event","api_version":"2026-03-25.dahlia","livemode":false,`+
		`"type":"checkout.session.completed",
		"data":{"object":{"id":"cs_test_bench","object":"checkout.session","client_reference_id":%q,"metadata":{"more":%q}}}}`,
		uuid.New(), order, stripePadding)
	at := clock.Now().Unix()
	mac := hmac.New(sha256.New, []byte(stripeSecret))
	_, _ = fmt.Fprintf(mac, "%d.%s", at, body)
	return body, map[string][]string{stripe.Header: {fmt.Sprintf("t=%d,v1=%x", at, mac.Sum(nil))}}
}

// stripe measures how fast the adapter of Stripe takes news, in an inbox that
// is small and in one that has grown for years.
func (r *run) stripe(ctx context.Context, p *panel) error {
	grown := 1_000_000
	if r.Smoke {
		grown = 10_000
	}
	id := uuid.New()
	receive := func(ctx context.Context, _, _ int) error {
		body, header := stripeNews(id)
		return p.sagas.Payments.Receive(ctx, "stripe", body, header)
	}
	var speeds []float64
	for _, rows := range []int{0, grown} {
		if err := p.growInbox(ctx, 0, rows); err != nil {
			return err
		}
		var last load
		speed, err := r.median(func() (_ float64, err error) {
			last, err = together(ctx, 50, r.duration, receive)
			return last.perSecond, err
		})
		if err != nil {
			return err
		}
		speeds = append(speeds, speed)
		name := "N-4 webhook of Stripe verified and stored, 50 clients"
		if rows > 0 {
			name = fmt.Sprintf("the same in an inbox of %d", rows)
		}
		line := Result{Section: "webhooks", Name: name, Value: speed, Unit: "/s"}
		if rows > 0 {
			line.Ratio, line.Peer, line.Bar = speed/speeds[0], "small inbox", 0.7
		}
		r.report(line)
		r.report(Result{Section: "webhooks", Name: name + ", p99", Value: milliseconds(last.at(0.99)), Unit: "ms", Bar: 50, AtMost: true})
	}
	return nil
}

// growInbox adds what years leave behind: rows whose bodies are not kept. So many are there.
func (p *panel) growInbox(ctx context.Context, there, rows int) error {
	_, err := p.owner.Exec(ctx, `
		insert into webhook_inbox (provider, event_id, type, object_ref, payment_ref, order_id, body_hash, headers,
			verified_by, state, received_at)
		select 'stripe', 'evt_old_' || n, 'checkout.session.completed', 'cs_old_' || n, 'pi_old_' || n,
			gen_random_uuid(), sha256(n::text::bytea),
			'{}', '1', 'done', business_now() - n * interval '1 minute'
		from generate_series($1::int + 1, $2::int) n`, there, rows)
	if err != nil {
		return fmt.Errorf("grow the inbox: %w", err)
	}
	_, err = p.owner.Exec(ctx, "analyze webhook_inbox") // as Postgres does by itself, but not at once
	return err
}
