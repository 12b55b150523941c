package caller

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Who calls again and again is not looked up before each call but remembered
// by the token, and whether they still are who they were is asked along with
// what the call asks anyway (docs/security.md, "Tokens"). The memory therefore
// decides nothing: it saves a round trip if it is right, and costs one if not.

const (
	rememberedFor    = time.Minute
	tokensRemembered = 10_000
)

// memory knows who held a token when they were last looked up.
type memory struct {
	mu      sync.Mutex
	holders map[tokenHash]memorized
}

// A tokenHash is of a token and of the keys that it was read with.
type tokenHash [sha256.Size]byte

func (k TokenKeys) hashOf(token string) tokenHash {
	for _, key := range k {
		token += " " + key.ID
	}
	return sha256.Sum256([]byte(token))
}

type memorized struct {
	Identity
	signIn uuid.UUID
	until  time.Time
}

func (m *memory) of(token tokenHash, now time.Time) (memorized, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.holders[token]
	return known, ok && now.Before(known.until)
}

// keep remembers a holder for a while, but no longer than the token is good.
func (m *memory) keep(token tokenHash, who memorized, now time.Time) {
	if until := now.Add(rememberedFor); until.Before(who.until) {
		who.until = until
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.holders == nil || len(m.holders) >= tokensRemembered {
		m.holders = map[tokenHash]memorized{}
	}
	m.holders[token] = who
}

func (m *memory) forget(token tokenHash) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.holders, token)
}

// remember finds the holder of a token in the memory: for calls that change
// nothing, and only if they would be let in.
func (s *Callers) remember(r route.Request, token tokenHash, may func(Identity) bool) (route.Caller, bool) {
	if r.Fresh || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return route.Caller{}, false
	}
	kept, known := s.deps.Caches.tokens.of(token, clock.Now())
	who := kept.Identity
	if !known || !may(who) {
		return route.Caller{}, false
	}
	reads := s.Reading(who).Given(&projections.CallerCheck{
		User: who.ID, Tenant: who.Tenant(), Session: who.SessionVersion, Version: who.Version, SignIn: kept.signIn, Limit: s.userLimit(who),
	})
	c := holder{Identity: who, signIn: kept.signIn, reads: reads}.caller()
	c.Settle = func(ctx context.Context) (route.Limit, bool) {
		left, ok := s.settle(ctx, who, reads)
		if !ok || left.Name != "" && !left.Allowed { // who has no calls left is looked up before anything else is asked
			s.deps.Caches.tokens.forget(token)
		}
		return left, ok
	}
	return c, true
}

// settle tells whether who was remembered has been there during the call.
func (s *Callers) settle(ctx context.Context, who Identity, reads projections.Scope) (route.Limit, bool) {
	left, ok := reads.Holds(ctx)
	if s.userLimit(who) == (projections.Limit{}) {
		return route.Limit{}, ok
	}
	return route.Limit{Name: "user", Quota: left}, ok
}
