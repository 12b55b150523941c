package payments

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
	"hostpanel/sagas/payments/webhookwriter"
)

// A webhook is stored first, answered second and handled third. It is a hint:
// all that follows from it is a check of its order (docs/sagas.md, "Webhooks").

// An Inbox stores the webhooks of payment providers and handles them.
type Inbox struct {
	runner    *sagas.Runner
	store     *eventstore.Store
	pool      *pgxpool.Pool
	providers map[string]order.Provider
	times     Times
	storing   *webhookwriter.Writer
	tasks     *sagas.Tasks

	rejected atomic.Int64 // since this process started
}

func newInbox(d Deps) *Inbox {
	s := &Inbox{runner: d.Runner, store: d.Store, pool: d.Store.Pool(), providers: d.Providers, times: d.Times}
	s.storing = webhookwriter.New(s.pool)
	s.handle()
	s.runner.EachRound("bodies of webhooks were not swept", s.SweepBodies)
	return s
}

// Receive stores a webhook. It checks the signature over the raw body, and
// commits the row before it answers. A repeated webhook is accepted and changes
// nothing. A bad signature is refused with code Invalid. Without a secret, or
// while it cannot be checked or stored, the code is Unavailable.
func (s *Inbox) Receive(ctx context.Context, provider string, raw []byte, header map[string][]string) error {
	p, ok := s.providers[provider]
	if !ok {
		return domain.Refuse(domain.NotFound, "Not found.")
	}
	news, err := p.Verify(raw, header, clock.Now())
	if err != nil {
		s.rejected.Add(1)
		return err
	}
	switch simulated, isOne := p.(simulator); {
	case news.Live != p.Live():
		s.runner.Alarm(
			ctx, "a webhook of the other mode is ignored: is a test account's address that of a live one?", "provider",
			provider, "event", news.EventID,
		)
		news.Handled = false
	case s.isOfAnother(news):
		news.Handled = false
	case isOne: // it has no truth but what it is told
		if err := simulated.Apply(ctx, raw); err != nil {
			return fmt.Errorf("apply a webhook of %s: %w", provider, err)
		}
	}
	if err := s.keepWebhook(ctx, provider, news, raw, header); err != nil {
		return err
	}
	s.runner.Wake(inboxQueue)
	return nil
}

// isOfAnother tells whether another panel has made what a webhook is about, which has an address
// of its own at the same account. A panel whose database was restored is the same one.
func (s *Inbox) isOfAnother(n order.News) bool {
	return n.Installation != "" && s.runner.Installation != "" && n.Installation != s.runner.Installation
}

// A simulator is a provider without a bank behind it: a webhook with a correct
// signature is also what happened (rule X-1).
type simulator interface {
	Apply(ctx context.Context, raw []byte) error
}

// keepWebhook inserts a webhook into the inbox, once for ever.
func (s *Inbox) keepWebhook(ctx context.Context, provider string, n order.News, raw []byte, header map[string][]string) error {
	hash := sha256.Sum256(raw)
	w := webhookwriter.Webhook{
		Provider: provider, News: n, Body: raw, Hash: hash[:],
		Headers: string(sagas.Encode(maskedHeaders(provider, header))), State: "stored",
	}
	if !n.Handled {
		w.State = "ignored"
	}
	stored, err := s.storing.Add(ctx, w)
	if err != nil || stored {
		return err
	}
	return s.compareRepeated(ctx, provider, n, hash[:])
}

// compareRepeated compares a repeated webhook with the one that is stored.
func (s *Inbox) compareRepeated(ctx context.Context, provider string, n order.News, hash []byte) error {
	var before []byte
	err := s.pool.QueryRow(
		ctx, `select body_hash from webhook_inbox where provider = $1 and event_id = $2`, provider, n.EventID,
	).Scan(&before)
	switch {
	case errors.Is(err, pgx.ErrNoRows): // so it was the transmission that came before
		s.runner.Alarm(ctx, "a transmission came with another event", "provider", provider, "event", n.EventID)
		return domain.Refuse(domain.Invalid, "Invalid signature.")
	case err != nil:
		return sagas.SQLError(err, "compare a webhook")
	case bytes.Equal(before, hash):
		return nil
	}
	s.runner.Alarm(ctx, "a webhook came again with another body; the first is kept", "provider", provider, "event", n.EventID)
	_, err = s.runner.Exec(ctx, "flag a webhook", `
		update webhook_inbox set error = 'came again with another body' where provider = $1 and event_id = $2`, provider, n.EventID)
	return err
}

// maskedHeaders are the headers of a webhook that are stored: the provider's
// own, without the values of signatures.
func maskedHeaders(provider string, header map[string][]string) map[string][]string {
	kept := map[string][]string{}
	for name, values := range header {
		lower := strings.ToLower(name)
		switch {
		case strings.Contains(lower, "signature"), strings.Contains(lower, "-sig"), lower == "authorization", lower == "cookie":
			kept[name] = []string{"***"}
		case lower == "content-type", lower == "user-agent", strings.HasPrefix(lower, provider+"-"):
			kept[name] = values
		}
	}
	return kept
}
