package hosting

import (
	"context"
	"net/netip"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// checkClaim adds why the tenant may not have the domain of a record, new or
// changed. Superusers give a tenant any that is free (docs/hosting.md, "Claims
// of domains").
func (s *Service) checkClaim(ctx context.Context, d *hosting.Draft, place hosting.Place, wrong *field.Errors) error {
	name := d.Kind.Claims
	if _, isNew := d.Changes()[name]; !isNew || place.Operator || wrong.Has(name) {
		return nil
	}
	refusal, err := s.refusal(ctx, d.Kind.Name, hosting.TextIn(d.Spec, name), d.Tenant)
	if refusal != "" {
		wrong.Add(name, refusal)
	}
	return err
}

// RefuseDomain says why a new customer may not have a site with a domain that
// is free; "": it may.
func (s *Service) RefuseDomain(ctx context.Context, name string) (refusal string, err error) {
	return s.refusal(ctx, "site", name, 0)
}

func (s *Service) refusal(ctx context.Context, kind, name string, tenant int64) (string, error) {
	networks, err := reverseNames(ctx, s.system())
	if err != nil {
		return "", err
	}
	if refusal := hosting.NotForTenants(name, append(s.hosts(), networks...)); refusal != "" {
		return refusal, nil
	}
	claimed, err := s.system().Hosting().ClaimedByOthers(ctx, kind, name, tenant, uuid.Nil)
	if claimed {
		return hosting.NearOthers, nil
	}
	return "", err
}

// hosts are the names under which the panel, its name servers and its engine are reached.
func (s *Service) hosts() (names []string) {
	if panel, err := url.Parse(s.PublicURL()); err == nil {
		names = append(names, panel.Hostname())
	}
	return slices.Concat(names, s.Hosts, s.NameServers)
}

// reverseNames are the names in DNS of the networks of all address pools. The host names of
// other tenants' machines are published there.
func reverseNames(ctx context.Context, scope projections.Scope) (names []string, err error) {
	kind, _ := hosting.KindNamed(hosting.PoolKind)
	pools, err := scope.Hosting().OfKind(ctx, kind, projections.Listing{})
	for _, row := range pools.Rows {
		of, err := networkOf(row)
		if err != nil {
			return nil, err
		}
		names = append(names, dns.Reverse(of))
	}
	return names, err
}

func networkOf(row projections.Resource) (netip.Prefix, error) {
	var pool hosting.AddressPool
	if err := row.Load(&pool); err != nil {
		return netip.Prefix{}, err
	}
	return netip.ParsePrefix(pool.Network)
}
