package hosting

import (
	"context"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
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
	if refusal := hosting.NotForTenants(name, s.hosts()); refusal != "" {
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
