package ispconfig

import (
	"context"
	"net/netip"
	"slices"

	"hostpanel/domain/field"
)

// Web servers prefer a site that names the address of a request to all sites with `*`,
// whatever the name in the request. So all sites of a server have `*`, or each has an
// address: what `*` stands for then is the server's first address that is no client's.

// A serverAddress is one that a server has for sites.
type serverAddress struct {
	netip.Addr

	client int64 // for which it is reserved; 0: none
}

// addressesOf returns the addresses of a server.
func (e *Engine) addressesOf(ctx context.Context, server int64) ([]serverAddress, error) {
	return e.addresses.get(ctx, e.api, server, e.api.serverAddresses)
}

func (c *connection) serverAddresses(ctx context.Context, server int64) ([]serverAddress, error) {
	found, err := c.rows(
		ctx, "server_ip_get", members{{"primary_id", members{{"server_id", server}}}}, []string{"ip_address", "client_id", "virtualhost"},
	)
	var all []serverAddress
	for _, r := range found {
		if address, err := netip.ParseAddr(r["ip_address"]); err == nil && r["virtualhost"] != "n" {
			all = append(all, serverAddress{address, r.number("client_id")})
		}
	}
	return all, err
}

// sharedAddress is the address for which `*` stands where each site has one; zero: `*` is any.
func (e *Engine) sharedAddress(ctx context.Context, server int64) (netip.Addr, error) {
	if !e.api.Named {
		return netip.Addr{}, nil
	}
	all, err := e.addressesOf(ctx, server)
	if err != nil {
		return netip.Addr{}, err
	}
	i := slices.IndexFunc(all, func(one serverAddress) bool { return one.client == 0 && one.Is4() })
	if i < 0 {
		return netip.Addr{}, lacking("engine_servers", "address", errNoAddress)
	}
	return all[i].Addr, nil
}

// wantedAddress is the address that a site is to have; false: any.
func wantedAddress(w *wish) (netip.Addr, bool) {
	wanted, err := netip.ParseAddr(w.text("ip_address"))
	return wanted, err == nil
}

// knowsAddress reports whether the web server has a site's address, free or for its client.
func knowsAddress(ctx context.Context, e *Engine, w *wish) (bool, error) {
	wanted, is := wantedAddress(w)
	if !is {
		return true, nil
	}
	all, err := e.addressesOf(ctx, w.server)
	return slices.ContainsFunc(all, func(one serverAddress) bool {
		return one.Addr == wanted && (one.client == 0 || one.client == w.Owner)
	}), err
}

// fitsRule reports whether a site's address follows the server's rule: `*` for all sites, or
// an address for each.
func fitsRule(ctx context.Context, e *Engine, w *wish) (bool, error) {
	wanted, is := wantedAddress(w)
	if !is || !w.asked {
		return true, nil
	}
	if !e.api.Named {
		return false, nil
	}
	shared, err := e.sharedAddress(ctx, w.server)
	return wanted != shared, err
}

// mayAddress keeps addresses that several clients have for operators.
func mayAddress(ctx context.Context, e *Engine, w *wish) (bool, error) {
	wanted, is := wantedAddress(w)
	if !is || !w.asked || w.ByOperator {
		return true, nil
	}
	all, err := e.addressesOf(ctx, w.server)
	return !slices.ContainsFunc(all, func(one serverAddress) bool { return one.Addr == wanted && one.client == 0 }), err
}

// siteReady reads what the columns of a site follow from.
func siteReady(ctx context.Context, e *Engine, w *wish) (err error) {
	if w.shared, err = e.sharedAddress(ctx, w.server); err != nil {
		return err
	}
	return limitStorage(ctx, e, w)
}

// tellAddress says the address of a site as the panel does where each site has one.
func tellAddress(ctx context.Context, e *Engine, have row, told field.Values) error {
	shared, err := e.sharedAddress(ctx, have.number("server_id"))
	switch {
	case err != nil || !shared.IsValid():
		return err
	case have["ip_address"] == "*":
		put(told, "ip_address", netip.IPv4Unspecified().String()) // any, which mixes
	case have["ip_address"] == shared.String() && have["ipv6_address"] == "":
		put(told, "ip_address", "*")
	}
	return nil
}
