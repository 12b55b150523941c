// Package endpointlimiter keeps an endpoint that does not answer from taking the places of all
// others. Only a few calls go to one endpoint at a time, and to all endpoints of one tenant.
// Other deliveries wait without using up an attempt (docs/sagas.md, "Webhooks to tenants").
package endpointlimiter

import (
	"sync"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// A Limit is how many deliveries go to one endpoint or tenant at once.
type Limit struct {
	name string
	most int
}

// Limits are those of a delivery.
func Limits(endpoint, tenant int64) []Limit {
	return []Limit{
		{webhook.EndpointStream(endpoint).String(), 2},
		{hosting.Ref{Kind: "tenant", ID: tenant}.Stream().String(), 4},
	}
}

// A Limiter counts the deliveries of this process by endpoint and tenant.
type Limiter struct {
	mu    sync.Mutex
	loads map[string]*load
}

type load struct {
	inside int
	rests  time.Time // until when the endpoint asked for a pause
	last   time.Time // when the last delivery that waits tries again
}

// New returns a limiter that has counted nothing.
func New() *Limiter { return &Limiter{loads: map[string]*load{}} }

const (
	betweenTurns = 100 * time.Millisecond // of deliveries that wait
	longestRest  = time.Hour              // that an endpoint may ask for
	longestTurn  = 30 * time.Second
)

// Busy is the time until the next try; 0: there is room.
func (c *Limiter) Busy(limits []Limit) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextFree(limits)
}

func (c *Limiter) nextFree(limits []Limit) time.Duration {
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

// Enter counts a delivery under each limit, or answers with the time until the
// next try. To leave takes the pause that the endpoint asked for.
func (c *Limiter) Enter(limits []Limit) (leave func(rest time.Duration), full time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.nextFree(limits); full > 0 {
		return nil, full
	}
	for _, g := range limits {
		if c.loads[g.name] == nil {
			c.loads[g.name] = &load{}
		}
		c.loads[g.name].inside++
	}
	return func(rest time.Duration) { c.leave(limits, rest) }, 0
}

func (c *Limiter) leave(limits []Limit, rest time.Duration) {
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
