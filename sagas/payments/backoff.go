package payments

import (
	"context"
	"errors"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// checkFailed postpones a check because the provider gave no usable answer. It
// is repeated for ever. After a while it raises an alarm (rule J-2).
func (s *Service) checkFailed(ctx context.Context, c check, failure error) error {
	var f *domain.Failure
	pause := sagas.BackOff(s.runner.Times().Floor, s.times.DownBase, s.times.DownCap, c.fails+1)
	if errors.As(failure, &f) {
		pause = max(pause, f.RetryAfter)
		s.backoff.pause(c.provider, f.RetryAfter)
	}
	if c.failing > s.times.DownAlarm {
		s.runner.Alarm(ctx, "a payment provider does not answer", "provider", c.provider, "order", c.order, "since", c.failing.Round(time.Second))
		if domain.ClassOf(failure) != domain.Permanent { // which is an answer
			failure = errors.Join(failure, s.runner.ReportIncident(ctx, operations.ProviderTrouble(c.provider)))
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.runner.Times().Write)
	defer cancel()
	_, err := s.runner.Exec(ctx, "put off a check", `
		update payment_watch set lease_until = null, fails = fails + 1, failing_since = coalesce(failing_since, real_now()), next_at = business_now() + $3::interval
		where order_id = $1 and lease_token = $2`, c.order, c.token, pause)
	s.runner.WakeLater(watchQueue, pause)
	return errors.Join(failure, err)
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

// deferCheck postpones a check until its provider may be called again. That
// counts neither as an answer nor as a failure.
func (s *Service) deferCheck(ctx context.Context, c check, d time.Duration) error {
	_, err := s.runner.Exec(ctx, "put off a check", `
		update payment_watch set lease_until = null, next_at = business_now() + $3::interval where order_id = $1 and lease_token = $2`, c.order, c.token, d)
	s.runner.WakeLater(watchQueue, d)
	return err
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
