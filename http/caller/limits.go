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

// attempt begins a try of a password for a user name. It counts as a failure
// from the beginning, so that many tries at once are no way around the limit;
// done, to be called when the password was right, takes that back and forgives
// the account's earlier failures. Who has failed too often is refused with 429,
// also with the right password.
func (s *Callers) attempt(ctx context.Context, username string, ip netip.Addr) (done func() error, err error) {
	address := s.limitKey("password_address", Network(ip, 32, 64))
	account := s.limitKey("password_account", strings.ToLower(strings.TrimSpace(username)), Network(ip, 24, 64))
	if err := s.take(ctx, address, wrongFromAddress, wrongAddressTime); err != nil {
		return nil, err
	}
	if err := s.take(ctx, account, wrongPasswords, wrongPasswordTime); err != nil {
		return nil, errors.Join(err, s.deps.Limits.GiveBack(ctx, address))
	}
	return func() error {
		return errors.Join(s.deps.Limits.GiveBack(ctx, address), s.deps.Limits.Forget(ctx, account))
	}, nil
}

// Limit spends one call of a limit against abuse, if these limits hold.
func (s *Callers) Limit(ctx context.Context, what, who string, calls int, window time.Duration) error {
	if !s.deps.Abuse {
		return nil
	}
	return s.take(ctx, s.limitKey(what, who), calls, window)
}

// limitKey names a limit. Who or what is limited is kept as a keyed hash, for
// it may be personal.
func (s *Callers) limitKey(what string, who ...string) string {
	parts := [][]byte{[]byte(what)}
	for _, w := range who {
		parts = append(parts, []byte(w))
	}
	return what + ":" + hex.EncodeToString(s.deps.Once.Fingerprints(parts...)[0])
}

func (s *Callers) take(ctx context.Context, key string, calls int, window time.Duration) error {
	left, err := s.deps.Limits.Take(ctx, key, calls, window)
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
