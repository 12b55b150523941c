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

// Keys are those of the storefront, and who calls with them.
type Keys struct {
	tables    *projections.Tables
	caches    *Caches
	limiter   *Limiter
	journal   *journal
	publicURL func() string
	isPast    bool
}

// Forget makes the next call with a key look it up anew, such as after it
// was revoked.
func (k *Keys) Forget(id string) {
	k.caches.keys.mu.Lock()
	defer k.caches.keys.mu.Unlock()
	delete(k.caches.keys.known, id)
	k.caches.keys.forgotten++
}

// Holder tells whose key it is. Keys of a wrong form cost no look-up.
func (k *Keys) Holder(ctx context.Context, text string, from netip.Addr) (route.Caller, error) {
	if k.isPast {
		return route.Caller{}, route.NotInPast
	}
	parts, ok := storefront.ParseKey(text)
	if !ok {
		return route.Caller{}, k.malformedKey(from)
	}
	key, err := k.key(ctx, parts.ID)
	if err != nil {
		return route.Caller{}, err
	}
	hash := storefront.HashKey(text)
	switch {
	case subtle.ConstantTimeCompare(hash[:], key.Hash) != 1, key.RevokedAt != nil:
		return route.Caller{}, k.refusedKey(ctx, from)
	case key.ExpiresAt != nil && !clock.Now().Before(*key.ExpiresAt):
		return route.Caller{}, route.ExpiredKey
	}
	return route.Caller{
		Principal: "api_key:" + key.ID, Origins: key.AllowedDomains, PerMinute: int(key.RateLimit), Detail: key,
	}, nil
}

// key looks a key up. One that was not issued is the zero key, which no hash
// matches.
func (k *Keys) key(ctx context.Context, id string) (projections.APIKey, error) {
	now := clock.Now()
	key, known, forgotten := k.caches.keys.get(id, now)
	if known {
		return key, nil
	}
	key, issued, err := k.tables.For(projections.System).Orders().APIKey(ctx, id)
	if err != nil || !issued {
		return projections.APIKey{}, err
	}
	k.caches.keys.keep(key, now, forgotten)
	if err := k.tables.TouchKey(ctx, id, now); err != nil {
		k.journal.log.WarnContext(ctx, "the last use of a key was not noted", "key", id, "err", err.Error())
	}
	return key, nil
}

// refusedKey is the answer to a key that opens nothing. Who tries many of them
// has to wait.
func (k *Keys) refusedKey(ctx context.Context, from netip.Addr) error {
	if !from.IsValid() {
		return route.InvalidKey
	}
	return errors.Join(k.limiter.Spend(ctx, "refused_key", Network(from, 32, 64), refusedKeys, time.Minute), route.InvalidKey)
}

// malformedKey is the answer to a text that was never a key. The database is
// not asked, so each process counts for itself.
func (k *Keys) malformedKey(from netip.Addr) error {
	if wait := k.caches.malformed.count(Network(from, 32, 64), clock.Now()); k.limiter.abuse && wait > 0 {
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

// Scope reads what the holder of the key may see.
func (k *Keys) Scope(c route.Call) projections.Scope {
	return k.tables.For(projections.Caller{KeyOwner: KeyOf(c).Owner})
}

// Access admits websites that hold a key of the storefront.
func (k *Keys) Access() route.Access {
	return route.APIKey(k, k.limiter.limits, k.publicURL).Requiring(k.noteOrigin)
}
