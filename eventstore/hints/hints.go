// Package hints lets the processes that share a database tell each other that there
// is something new, by NOTIFY and LISTEN of Postgres (docs/log.md, "Hints"). A hint may
// get lost, so a process that waits for one also looks from time to time.
package hints

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/clock"
)

// Pause is the shortest time between two transactions with NOTIFY of one process. Each
// of them serializes commits. With two busy channels, a process sends a hundred NOTIFYs
// a second at most (rule N-13).
const Pause = 20 * time.Millisecond

// retry is the pause before a process listens again.
const retry = time.Second

// mostNotified is the longest payload in bytes; Postgres takes 7,999.
const mostNotified = 7900

// separator stands between the sender of a payload and its texts.
const separator = "\n"

// A Hearer takes one text that another process has told. An empty text stands for
// anything: the process begins to listen, or there was too much to tell. After an error
// the process begins anew.
type Hearer func(ctx context.Context, text string) error

// Hints are the hints that one process tells and hears, on one connection.
type Hints struct {
	pool    *pgxpool.Pool
	log     *slog.Logger
	sender  string // tells the hints of this process from others
	hearers map[string][]Hearer

	mu     sync.Mutex
	untold map[string]map[string]bool // texts by channel
	raised chan struct{}              // has room for one: something is untold
}

// New returns the hints of a process that uses pool.
func New(pool *pgxpool.Pool, log *slog.Logger) *Hints {
	return &Hints{
		pool: pool, log: log, sender: uuid.NewString(), hearers: map[string][]Hearer{},
		untold: map[string]map[string]bool{}, raised: make(chan struct{}, 1),
	}
}

// Hear registers who takes the hints on a channel. It precedes [Hints.Follow].
func (h *Hints) Hear(channel string, hearer Hearer) {
	h.hearers[channel] = append(h.hearers[channel], hearer)
}

// Tell lets [Hints.Follow] tell the other processes. It does not wait.
func (h *Hints) Tell(channel, text string) {
	h.mu.Lock()
	if h.untold[channel] == nil {
		h.untold[channel] = map[string]bool{}
	}
	h.untold[channel][text] = true
	h.mu.Unlock()
	select {
	case h.raised <- struct{}{}:
	default:
	}
}

// Follow tells and hears hints until ctx ends. Without it processes find by polling
// what others have done.
func (h *Hints) Follow(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { h.tell(ctx) })
	both.Go(func() { h.listen(ctx) })
	both.Wait()
}

// tellAll does not wait for the disk, because a NOTIFY does not survive a crash.
const tellAll = `select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) said (channel, payload),
	(select set_config('synchronous_commit', 'off', true)) relaxed`

func (h *Hints) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.raised:
		}
		channels, payloads := h.payloads()
		if _, err := h.pool.Exec(ctx, tellAll, channels, payloads); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "other processes were not told; they poll", "err", err)
		}
		clock.Pausing(ctx, Pause, nil)
	}
}

// payloads takes what is untold: one payload for each channel.
func (h *Hints) payloads() (channels, payloads []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for channel, texts := range h.untold {
		payload := strings.Join(append([]string{h.sender}, slices.Sorted(maps.Keys(texts))...), separator)
		if len(payload) > mostNotified {
			payload = h.sender
		}
		channels, payloads = append(channels, channel), append(payloads, payload)
	}
	clear(h.untold)
	return channels, payloads
}

func (h *Hints) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := h.listenOnce(ctx); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "other processes are not heard; polling goes on", "err", err)
			clock.Pausing(ctx, retry, nil)
		}
	}
}

func (h *Hints) listenOnce(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, h.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	for channel := range h.hearers {
		if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{channel}.Sanitize()); err != nil {
			return err
		}
	}
	for channel := range h.hearers { // what was told before is not heard
		if err := h.heard(ctx, channel, ""); err != nil {
			return err
		}
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if err := h.notified(ctx, n.Channel, n.Payload); err != nil {
			return err
		}
	}
}

// notified passes on the texts of another process. A payload without a sender comes from
// a statement that tells by itself.
func (h *Hints) notified(ctx context.Context, channel, payload string) error {
	sender, texts, _ := strings.Cut(payload, separator)
	if sender == h.sender {
		return nil
	}
	for text := range strings.SplitSeq(texts, separator) {
		if err := h.heard(ctx, channel, text); err != nil {
			return err
		}
	}
	return nil
}

func (h *Hints) heard(ctx context.Context, channel, text string) error {
	for _, hearer := range h.hearers[channel] {
		if err := hearer(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
