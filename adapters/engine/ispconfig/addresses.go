package ispconfig

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// addresses remembers the IP addresses of servers for a while.
type addresses struct {
	mu    sync.Mutex
	known map[int64][]netip.Addr
	at    time.Time
}

const addressesLast = time.Minute

// of returns the addresses of a server.
func (a *addresses) of(ctx context.Context, e *Engine, server int64) ([]netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if all, known := a.known[server]; known && e.api.Now().Sub(a.at) < addressesLast {
		return all, nil
	}
	found, err := e.api.rows(ctx, "server_ip_get", members{{"primary_id", members{{"server_id", server}}}}, []string{"ip_address"})
	if err != nil {
		return nil, err
	}
	var all []netip.Addr
	for _, r := range found {
		if address, err := netip.ParseAddr(r["ip_address"]); err == nil {
			all = append(all, address)
		}
	}
	a.known, a.at = map[int64][]netip.Addr{server: all}, e.api.Now()
	return all, nil
}
