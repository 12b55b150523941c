package caller

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"
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
