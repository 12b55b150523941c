package payments

import (
	"context"
	"errors"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/clock"
)

// noAnswer is the failure of a check because the provider gave no usable answer. It
// is repeated for ever. After a while it raises an alarm (rule J-2).
func (s *Service) noAnswer(ctx context.Context, c check, failure error) error {
	if f, is := errors.AsType[*domain.Failure](failure); is {
		s.backoff.pause(c.provider, f.RetryAfter)
	}
	if c.failing <= s.times.DownAlarm {
		return failure
	}
	s.runner.Alarm(ctx, "a payment provider does not answer",
		"provider", c.provider, "order", c.order, "since", c.failing.Round(time.Second))
	if domain.ClassOf(failure) != domain.Permanent { // which is an answer
		failure = errors.Join(failure, s.runner.ReportIncident(ctx, operations.ProviderTrouble(c.provider)))
	}
	return failure
}

// providerBackoff spaces out the calls to providers that are down, and pauses
// those to providers that ask for it.
type providerBackoff struct {
	mu    sync.Mutex
	next  map[string]time.Time
	until map[string]time.Time
}

func newProviderBackoff() providerBackoff {
	return providerBackoff{next: map[string]time.Time{}, until: map[string]time.Time{}}
}

// pause stops calls to a provider for as long as it asks for.
func (p *providerBackoff) pause(provider string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := clock.Now().Add(min(d, longestPause)); until.After(p.until[provider]) {
		p.until[provider] = until
	}
}

// longestPause limits the pause that a provider may ask for.
const longestPause = time.Hour

// remaining is how long calls to a provider are still paused.
func (p *providerBackoff) remaining(provider string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, clock.Until(p.until[provider]))
}

// wait spaces calls to a provider apart.
func (p *providerBackoff) wait(ctx context.Context, provider string, apart time.Duration) {
	p.mu.Lock()
	at := p.next[provider]
	if now := clock.Now(); at.Before(now) {
		at = now
	}
	p.next[provider] = at.Add(apart)
	p.mu.Unlock()
	clock.Pausing(ctx, clock.Until(at), nil)
}
