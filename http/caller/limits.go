package caller

import (
	"context"
	"encoding/hex"
	"errors"
	"net/netip"
	"strings"
	"time"

	"hostpanel/http/route"
)

// How often a password may be wrong (docs/security.md, "Guessing").
const (
	wrongPasswords    = 5 // per account and network
	wrongPasswordTime = 15 * time.Minute
	wrongFromAddress  = 20 // per address, for whatever account
	wrongAddressTime  = time.Minute
)

// A Limiter counts what may be tried in vain only so often.
type Limiter struct {
	limits Limits
	once   route.OnceKeys // whose keys hash whom it counts
	abuse  bool
}

// attempt begins a try of a password for a user name. It counts as a failure
// from the beginning, so that many tries at once are no way around the limit;
// done, to be called when the password was right, takes that back and forgives
// the account's earlier failures. Who has failed too often is refused with 429,
// also with the right password.
func (l *Limiter) attempt(ctx context.Context, username string, ip netip.Addr) (done func() error, err error) {
	address := l.key("password_address", Network(ip, 32, 64))
	account := l.key("password_account", strings.ToLower(strings.TrimSpace(username)), Network(ip, 24, 64))
	if err := l.take(ctx, address, wrongFromAddress, wrongAddressTime); err != nil {
		return nil, err
	}
	if err := l.take(ctx, account, wrongPasswords, wrongPasswordTime); err != nil {
		return nil, errors.Join(err, l.limits.GiveBack(ctx, address))
	}
	return func() error {
		return errors.Join(l.limits.GiveBack(ctx, address), l.limits.Forget(ctx, account))
	}, nil
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
