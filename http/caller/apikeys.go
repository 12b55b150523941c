package caller

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/netip"
	"sync"
	"time"

	"hostpanel/domain/storefront"
	"hostpanel/eventstore/clock"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	keyLife     = 5 * time.Second // that a look-up may be old
	keysKept    = 10_000
	refusedKeys = 60 // per minute and address
)

// keyring knows who holds which API key. What it has looked up it remembers
// for a moment.
type keyring struct {
	mu        sync.Mutex
	known     map[string]knownKey
	forgotten int // how often one was
}

type knownKey struct {
	projections.APIKey
	until time.Time
}

func (k *keyring) get(id string, now time.Time) (key projections.APIKey, known bool, forgotten int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	kept, known := k.known[id]
	return kept.APIKey, known && now.Before(kept.until), k.forgotten
}

// keep remembers what was looked up, unless a key was to be forgotten in the
// meantime: it might be this one, as it was before.
func (k *keyring) keep(key projections.APIKey, now time.Time, forgotten int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.forgotten != forgotten {
		return
	}
	if k.known == nil || len(k.known) >= keysKept {
		k.known = map[string]knownKey{}
	}
	k.known[key.ID] = knownKey{key, now.Add(keyLife)}
}

// ForgetKey makes the next call with a key look it up anew, such as after it
// was revoked.
func (s *Callers) ForgetKey(id string) {
	s.deps.Caches.keys.mu.Lock()
	defer s.deps.Caches.keys.mu.Unlock()
	delete(s.deps.Caches.keys.known, id)
	s.deps.Caches.keys.forgotten++
}

// holders is the keyring as the access rule of the storefront sees it.
type holders struct{ callers *Callers }

// Holder tells whose key it is. Keys of a wrong form cost no look-up.
func (s holders) Holder(ctx context.Context, text string, from netip.Addr) (route.Caller, error) {
	if s.callers.deps.isPast() {
		return route.Caller{}, route.NotInPast
	}
	parts, ok := storefront.ParseKey(text)
	if !ok {
		return route.Caller{}, s.callers.malformedKey(from)
	}
	key, err := s.callers.key(ctx, parts.ID)
	if err != nil {
		return route.Caller{}, err
	}
	hash := storefront.HashKey(text)
	switch {
	case subtle.ConstantTimeCompare(hash[:], key.Hash) != 1, key.RevokedAt != nil:
		return route.Caller{}, s.callers.refusedKey(ctx, from)
	case key.ExpiresAt != nil && !clock.Now().Before(*key.ExpiresAt):
		return route.Caller{}, route.ExpiredKey
	}
	return route.Caller{
		Principal: "api_key:" + key.ID, Origins: key.AllowedDomains, PerMinute: int(key.RateLimit), Detail: key,
	}, nil
}

// key looks a key up. One that was not issued is the zero key, which no hash
// matches.
func (s *Callers) key(ctx context.Context, id string) (projections.APIKey, error) {
	now := clock.Now()
	key, known, forgotten := s.deps.Caches.keys.get(id, now)
	if known {
		return key, nil
	}
	key, issued, err := s.System().APIKey(ctx, id)
	if err != nil || !issued {
		return projections.APIKey{}, err
	}
	s.deps.Caches.keys.keep(key, now, forgotten)
	if err := s.deps.Tables.TouchKey(ctx, id, now); err != nil {
		s.Log().WarnContext(ctx, "the last use of a key was not noted", "key", id, "err", err.Error())
	}
	return key, nil
}

// refusedKey is the answer to a key that opens nothing. Who tries many of them
// has to wait.
func (s *Callers) refusedKey(ctx context.Context, from netip.Addr) error {
	if !from.IsValid() {
		return route.InvalidKey
	}
	return errors.Join(s.Limit(ctx, "refused_key", Network(from, 32, 64), refusedKeys, time.Minute), route.InvalidKey)
}

// malformedKey is the answer to a text that was never a key. The database is
// not asked, so each process counts for itself.
func (s *Callers) malformedKey(from netip.Addr) error {
	if wait := s.deps.Caches.malformed.count(Network(from, 32, 64), clock.Now()); s.deps.Abuse && wait > 0 {
		return route.Throttle(wait)
	}
	return route.InvalidKey
}

// A tally counts malformed keys by network, from the first of a minute on.
type tally struct {
	mu    sync.Mutex
	since time.Time
	of    map[string]int
}

// count counts one more. It returns how long its sender has to wait; 0: not at
// all.
func (t *tally) count(network string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil || now.Sub(t.since) >= time.Minute || len(t.of) >= keysKept {
		t.since, t.of = now, map[string]int{}
	}
	t.of[network]++
	if t.of[network] <= refusedKeys {
		return 0
	}
	return time.Minute - now.Sub(t.since)
}

// KeyOf is the key with which a call was made.
func KeyOf(c route.Call) projections.APIKey {
	key, _ := c.Caller.Detail.(projections.APIKey)
	return key
}

// Visitor reads what the holder of the key may see.
func (s *Callers) Visitor(c route.Call) projections.Scope {
	return s.deps.Tables.For(projections.Caller{KeyOwner: KeyOf(c).Owner})
}

// APIKey admits websites that hold a key of the storefront.
func (s *Callers) APIKey() route.Access {
	return route.APIKey(holders{s}, s.deps.Limits, s.deps.PublicURL).Requiring(s.noteOrigin)
}
