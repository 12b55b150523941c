package assembly

import (
	"sync"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/sagas"
)

// Who does not answer keeps its callers waiting. So that one endpoint cannot
// take the places of all others, only a few calls go to it at a time, and to
// all endpoints of a tenant; the others of it stand in line without using up
// an attempt (docs/sagas.md, "Webhooks to tenants").

// A concurrencyLimit is where a delivery has to pass, and how many may be behind it.
type concurrencyLimit struct {
	name string
	most int
}

func limitsOf(j DeliveryInput) []concurrencyLimit {
	return []concurrencyLimit{{webhook.EndpointStream(j.Endpoint).String(), 2}, {hosting.Ref{Kind: "tenant", ID: j.Tenant}.Stream().String(), 4}}
}

// endpointLimiter know how many are behind each gate, in this process.
type endpointLimiter struct {
	mu    sync.Mutex
	loads map[string]*endpointLoad
}

type endpointLoad struct {
	inside int
	rests  time.Time // until when it wants to be left alone
	last   time.Time // the turn that was given out last
}

func newEndpointLimiter() endpointLimiter { return endpointLimiter{loads: map[string]*endpointLoad{}} }

const (
	betweenTurns = 100 * time.Millisecond // of those who stand in line
	longestTurn  = 30 * time.Second
)

// busy is when to come again; 0: there is room.
func (c *endpointLimiter) busy(gates []concurrencyLimit) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextFree(gates)
}

func (c *endpointLimiter) nextFree(gates []concurrencyLimit) time.Duration {
	now := time.Now()
	for _, g := range gates {
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

// enter takes a place behind each gate, or answers when to come again. Whoever
// leaves tells how long the first gate wants to be left alone.
func (c *endpointLimiter) enter(gates []concurrencyLimit) (leave func(rest time.Duration), full time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if full := c.nextFree(gates); full > 0 {
		return nil, full
	}
	for _, g := range gates {
		if c.loads[g.name] == nil {
			c.loads[g.name] = &endpointLoad{}
		}
		c.loads[g.name].inside++
	}
	return func(rest time.Duration) { c.leave(gates, rest) }, 0
}

// longestRest bounds how long an endpoint is left alone at its own request.
const longestRest = time.Hour

func (c *endpointLimiter) leave(gates []concurrencyLimit, rest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.loads[gates[0].name].rests = now.Add(min(rest, longestRest))
	for _, g := range gates {
		at := c.loads[g.name]
		if at.inside--; at.inside == 0 && !now.Before(at.rests) {
			delete(c.loads, g.name)
		}
	}
}
