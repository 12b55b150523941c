package projections

import (
	"context"

	"hostpanel/domain/hosting"
)

// A Look is how a tenant's panel and mails look. ID is that of the configuration.
type Look struct {
	ID int64
	hosting.WhiteLabel
}

// Branding is how a tenant's panel and mails look; false: like everybody's, because
// it has no configuration or has switched it off.
func (s ResourceReader) Branding(ctx context.Context, tenant int64) (hosting.WhiteLabel, bool, error) {
	look, has, err := s.LookOf(ctx, tenant)
	return look.WhiteLabel, has, err
}

// LookOf is [ResourceReader.Branding] with the number of the configuration.
func (s ResourceReader) LookOf(ctx context.Context, tenant int64) (look Look, has bool, err error) {
	row, has, err := s.ofTenant(ctx, "whitelabel", tenant)
	if has {
		look.ID, err = row.ID, row.Load(&look.WhiteLabel)
	}
	return look, has && err == nil, err
}

// ReceivesMail tells whether a domain is one of the tenant's mail domains, and
// active.
func (s ResourceReader) ReceivesMail(ctx context.Context, tenant int64, domain string) (bool, error) {
	_, has, err := s.ofTenant(ctx, "mail_domain", tenant, Filter{Field: "domain", Op: "=", Value: domain})
	return has, err
}

// ofTenant is the tenant's active resource of a kind that the filters leave.
func (s ResourceReader) ofTenant(ctx context.Context, kind string, tenant int64, filters ...Filter) (row Resource, has bool, err error) {
	k, _ := hosting.KindNamed(kind)
	found, err := s.OfKind(ctx, k, Listing{Limit: 1, Filters: append(filters,
		Filter{Field: "tenant", Op: "=", Value: tenant}, Filter{Field: "is_active", Op: "=", Value: true})})
	if err != nil || len(found.Rows) == 0 {
		return row, false, err
	}
	return found.Rows[0], true, nil
}
