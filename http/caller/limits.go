package caller

import (
	"context"
	"encoding/hex"
	"net/netip"
	"time"

	"hostpanel/http/route"
)

// A Limiter counts what may be tried in vain only so often.
type Limiter struct {
	limits Limits
	once   route.OnceKeys // whose keys hash whom it counts
	abuse  bool
}

// Spend spends one call of a limit against abuse, if these limits hold.
func (l *Limiter) Spend(ctx context.Context, what, who string, calls int, window time.Duration) error {
	if !l.abuse {
		return nil
	}
	return l.take(ctx, l.key(what, who), calls, window)
}

// key names a limit. Who or what is limited is kept as a keyed hash, for
// it may be personal.
func (l *Limiter) key(what string, who ...string) string {
	parts := [][]byte{[]byte(what)}
	for _, w := range who {
		parts = append(parts, []byte(w))
	}
	return what + ":" + hex.EncodeToString(l.once.Fingerprints(parts...)[0])
}

func (l *Limiter) take(ctx context.Context, key string, calls int, window time.Duration) error {
	left, err := l.limits.Take(ctx, key, calls, window)
	if err != nil {
		return err
	}
	if !left.Allowed {
		return route.Throttle(left.Wait)
	}
	return nil
}

// Network is the network that an address counts as: the holder of one address
// of IPv6 has very many.
func Network(ip netip.Addr, four, six int) string {
	bits := six
	if ip.Is4() {
		bits = four
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return "" // not a connection by IP
	}
	return network.String()
}
