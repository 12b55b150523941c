package notices

import (
	"sync"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// An endpoint that does not answer would take the places of all others. So only
// a few calls go to one endpoint at a time, and to all endpoints of one tenant.
// Other deliveries wait without using up an attempt (docs/sagas.md, "Webhooks to
// tenants").

// A concurrencyLimit is how many deliveries go to one endpoint or tenant at once.
type concurrencyLimit struct {
	name string
	most int
}

func limitsOf(j DeliveryInput) []concurrencyLimit {
	return []concurrencyLimit{
		{webhook.EndpointStream(j.Endpoint).String(), 2},
		{hosting.Ref{Kind: "tenant", ID: j.Tenant}.Stream().String(), 4},
	}
}

// endpointLimiter counts the deliveries of this process by endpoint and tenant.
type endpointLimiter struct {
	mu    sync.Mutex
	loads map[string]*endpointLoad
}

type endpointLoad struct {
	inside int
	rests  time.Time // until when the endpoint asked for a pause
	last   time.Time // when the last delivery that waits tries again
}

func newEndpointLimiter() endpointLimiter { return endpointLimiter{loads: map[string]*endpointLoad{}} }

const (
	betweenTurns = 100 * time.Millisecond // of deliveries that wait
	longestRest  = time.Hour              // that an endpoint may ask for
	longestTurn  = 30 * time.Second
)

// busy is the time until the next try; 0: there is room.
func (c *endpointLimiter) busy(limits []concurrencyLimit) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextFree(limits)
}

func (c *endpointLimiter) nextFree(limits []concurrencyLimit) time.Duration {
	now := clock.Now()
	for _, g := range limits {
		at, known := c.loads[g.name]
		switch {
		case known && now.Before(at.rests):
			return at.rests.Sub(now)
		case known && at.inside >= g.most:
			if at.last.Before(now) {
				at.last = now
			}
			at.last = at.last.Add(betweenTurns)
			if d := at.last.Sub(now); d <= longestTurn {
				return d
			}
			return sagas.Jittered(longestTurn)
		}
	}
	return 0
}

// enter counts a delivery under each limit, or answers with the time until the
// next try. To leave takes the pause that the endpoint asked for.
func (c *endpointLimiter) enter(limits []concurrencyLimit) (leave func(rest time.Duration), full time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.nextFree(limits); full > 0 {
		return nil, full
	}
	for _, g := range limits {
		if c.loads[g.name] == nil {
			c.loads[g.name] = &endpointLoad{}
		}
		c.loads[g.name].inside++
	}
	return func(rest time.Duration) { c.leave(limits, rest) }, 0
}

func (c *endpointLimiter) leave(limits []concurrencyLimit, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := clock.Now()
	c.loads[limits[0].name].rests = now.Add(min(rest, longestRest))
	for _, g := range limits {
		at := c.loads[g.name]
		if at.inside--; at.inside == 0 && !now.Before(at.rests) {
			delete(c.loads, g.name)
		}
	}
}
