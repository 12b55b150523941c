package stripetest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// An Event is a webhook's body, and what it is about.
type Event struct {
	ID, Type string
	Body     []byte
}

// delivery is how webhooks leave.
type delivery struct {
	to      string
	copies  int
	drop    bool
	held    bool
	waiting []Event
	all     []Event
	running sync.WaitGroup
}

// DeliverTo tells where webhooks are delivered from now on.
func (s *Server) DeliverTo(url string) { s.deliver(func(d *delivery) { d.to = url }) }

// Copies tells how often each webhook is delivered.
func (s *Server) Copies(n int) { s.deliver(func(d *delivery) { d.copies = n }) }

// Drop loses all webhooks from now on, or no longer.
func (s *Server) Drop(lost bool) { s.deliver(func(d *delivery) { d.drop = lost }) }

// Hold keeps webhooks back until [Server.Release].
func (s *Server) Hold() { s.deliver(func(d *delivery) { d.held = true }) }

func (s *Server) deliver(change func(*delivery)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.post)
}

// Release delivers what was held, the newest first, and nothing is held any more.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.post.waiting
	s.post.waiting, s.post.held = nil, false
	for _, e := range slices.Backward(waiting) {
		s.send(e)
	}
}

// Events are all there have been, delivered or not.
func (s *Server) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.post.all)
}

// Event makes a webhook of its own about an object, which need not be true.
func (s *Server) Event(kind string, about map[string]any) Event {
	id := newID("evt_")
	return Event{ID: id, Type: kind, Body: encode(map[string]any{
		"id": id, "object": "event", "api_version": "2026-03-25.dahlia", "created": s.now().Unix(), "livemode": s.live(), "type": kind,
		"data": map[string]any{"object": about}, "pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil},
	})}
}

// emit is what has happened in the books.
func (s *Server) emit(kind string, about map[string]any) {
	e := s.Event(kind, about)
	s.post.all = append(s.post.all, e)
	if s.post.held {
		s.post.waiting = append(s.post.waiting, e)
		return
	}
	s.send(e)
}

func (s *Server) send(e Event) {
	if s.post.drop || s.post.to == "" || s.over.Err() != nil {
		return
	}
	for range s.post.copies {
		to := s.post.to
		s.post.running.Go(func() { s.insist(to, e) })
	}
}

// insist delivers a webhook until it is taken, as the real ones do for days.
func (s *Server) insist(to string, e Event) {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		status, err := s.Send(s.over, to, e)
		if err == nil && status/100 == 2 {
			return
		}
		select {
		case <-s.over.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Send delivers a webhook once, signed, and answers with the status.
func (s *Server) Send(ctx context.Context, to string, e Event) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(e.Body))
	if err != nil {
		return 0, fmt.Errorf("deliver a webhook: %w", err)
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Stripe-Signature", Sign(e.Body, s.now(), s.options.Secrets...))
	a, err := webhooks.Do(r)
	if err != nil {
		return 0, fmt.Errorf("deliver a webhook: %w", err)
	}
	return a.StatusCode, a.Body.Close()
}

var webhooks = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Sign returns the signature of a body sent at the given time: one for each secret.
func Sign(body []byte, at time.Time, secrets ...string) string {
	header := fmt.Sprintf("t=%d", at.Unix())
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		_, _ = fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		header += fmt.Sprintf(",v1=%x", mac.Sum(nil))
	}
	return header
}
