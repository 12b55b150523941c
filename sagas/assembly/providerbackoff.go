package assembly

import (
	"context"
	"errors"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/sagas"
)

// unanswered puts a check off because the provider gave no usable answer. It
// is asked again for ever; somebody is told after a while (rule J-2).
func (s *Panel) unanswered(ctx context.Context, c check, failure error) error {
	var f *domain.Failure
	pause := sagas.BackOff(s.times.Floor, s.times.DownBase, s.times.DownCap, c.fails+1)
	if errors.As(failure, &f) {
		pause = max(pause, f.RetryAfter)
		s.backoff.rest(c.provider, f.RetryAfter)
	}
	if c.failing > s.times.DownAlarm {
		s.Alarm(ctx, "a payment provider does not answer", "provider", c.provider, "order", c.order, "since", c.failing.Round(time.Second))
		if domain.ClassOf(failure) != domain.Permanent { // which is an answer
			failure = errors.Join(failure, s.ReportIncident(ctx, providerTrouble(c.provider)))
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	_, err := s.Exec(ctx, "put off a check", `
		update payment_watch set lease_until = null, fails = fails + 1, failing_since = coalesce(failing_since, real_now()), next_at = business_now() + $3::interval
		where order_id = $1 and lease_token = $2`, c.order, c.token, pause)
	s.WakeLater(watchQueue, pause)
	return errors.Join(failure, err)
}

// providerBackoff keep questions to providers that are down apart, and leave those alone
// that ask for it.
type providerBackoff struct {
	mu    sync.Mutex
	next  map[string]time.Time
	until map[string]time.Time
}

func newProviderBackoff() providerBackoff {
	return providerBackoff{next: map[string]time.Time{}, until: map[string]time.Time{}}
}

// rest leaves a provider alone for as long as it asks for.
func (p *providerBackoff) rest(provider string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(min(d, longestRest)); until.After(p.until[provider]) {
		p.until[provider] = until
	}
}

// longestRest is how long a provider is left alone at most, whatever it asks for.
const longestRest = time.Hour

// resting is how long the provider still wants to be left alone.
func (p *providerBackoff) resting(provider string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, time.Until(p.until[provider]))
}

// putOff leaves a check for when its provider may be asked again. That counts
// neither as an answer nor as a failure.
func (s *Panel) putOff(ctx context.Context, c check, d time.Duration) error {
	_, err := s.Exec(ctx, "put off a check", `
		update payment_watch set lease_until = null, next_at = business_now() + $3::interval where order_id = $1 and lease_token = $2`, c.order, c.token, d)
	s.WakeLater(watchQueue, d)
	return err
}

func (p *providerBackoff) wait(ctx context.Context, provider string, apart time.Duration) {
	p.mu.Lock()
	at := p.next[provider]
	if now := time.Now(); at.Before(now) {
		at = now
	}
	p.next[provider] = at.Add(apart)
	p.mu.Unlock()
	sagas.Pausing(ctx, time.Until(at), nil)
}
