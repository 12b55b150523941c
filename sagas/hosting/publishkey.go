package hosting

import (
	"context"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// PublishKey brings the DNS record of a mail domain's DKIM key into the tenant's own
// zone of the domain, and returns the record. An older key of the same selector is
// replaced. A record that is there already stays as it is.
func (s *Service) PublishKey(
	ctx context.Context, cause hosting.Cause, by projections.Caller, of *hosting.Draft,
) (*hosting.Draft, domain.Receipt, error) {
	name, data, signs := hosting.KeyRecord(of.Spec)
	if !signs {
		return nil, domain.Receipt{}, &domain.Error{
			Code: domain.Conflict, Reason: "dkim_disabled",
			Message: "Mails of this domain are not signed: set dkim_enabled first.",
		}
	}
	k := keyPublisher{s, cause, by}
	zone, err := k.zoneAbove(ctx, of.Tenant, name)
	if err != nil {
		return nil, domain.Receipt{}, err
	}
	there, err := k.keyIn(ctx, zone, name)
	if err != nil {
		return nil, domain.Receipt{}, err
	}
	if there != nil {
		return k.replace(ctx, there, data)
	}
	return k.add(ctx, zone, name, data)
}

// A keyPublisher publishes a key on behalf of a caller.
type keyPublisher struct {
	service *Service

	cause hosting.Cause
	by    projections.Caller
}

// zoneAbove is the tenant's zone to which a name belongs: of several the longest.
func (k keyPublisher) zoneAbove(ctx context.Context, tenant int64, name string) (projections.Resource, error) {
	var origins []string
	for above := name; above != ""; {
		_, above, _ = strings.Cut(above, ".")
		origins = append(origins, above)
	}
	kind, _ := hosting.KindNamed("dns_zone")
	found, err := k.service.system().Hosting().OfKind(ctx, kind, projections.Listing{Filters: []projections.Filter{
		{Field: "tenant", Op: "=", Value: tenant}, {Field: "origin", Op: "in", Value: origins},
	}, Limit: int64(len(origins))})
	var longest projections.Resource
	origin := func(row projections.Resource) int { return len(row.Spec["origin"]) }
	for _, row := range found.Rows {
		if longest.ID == 0 || origin(row) > origin(longest) {
			longest = row
		}
	}
	if err == nil && longest.ID == 0 {
		err = &domain.Error{
			Code: domain.Conflict, Reason: "zone_missing",
			Message: "The panel serves no DNS zone of this domain: add the record where the zone is served.",
		}
	}
	return longest, err
}

// keyIn is the record of a key in a zone; nil: there is none. Other texts under the
// name are left alone.
func (k keyPublisher) keyIn(ctx context.Context, zone projections.Resource, name string) (*hosting.Draft, error) {
	kind, _ := hosting.KindNamed("dns_record")
	var in hosting.DNSZone
	if err := zone.Load(&in); err != nil {
		return nil, err
	}
	relative, err := dns.Within(name, in.Origin)
	if err != nil {
		return nil, err
	}
	found, err := k.service.system().Hosting().OfKind(ctx, kind, projections.Listing{Filters: []projections.Filter{
		{Field: "zone", Op: "=", Value: zone.ID},
		{Field: "name", Op: "=", Value: relative},
		{Field: "record_type", Op: "=", Value: dns.TXT},
	}, Limit: kind.Most})
	if err != nil {
		return nil, err
	}
	for _, row := range found.Rows {
		d, err := row.Draft()
		if err != nil {
			return nil, err
		}
		if text, _ := dns.Text(hosting.TextIn(d.Spec, "data")); hosting.IsKey(text) {
			return d, nil
		}
	}
	return nil, nil
}

// replace changes a record to the key, if it has another one or is off.
func (k keyPublisher) replace(ctx context.Context, d *hosting.Draft, data string) (*hosting.Draft, domain.Receipt, error) {
	if text, _ := dns.Text(hosting.TextIn(d.Spec, "data")); text == data && string(d.Before()["is_active"]) == "true" {
		return d, domain.Receipt{Versions: domain.Versions{d.Ref().Stream(): d.Version}}, nil
	}
	err := k.asked(ctx, d, map[string]any{"data": data, "is_active": true}, field.Patch)
	if err != nil {
		return nil, domain.Receipt{}, err
	}
	receipt, err := k.service.Change(ctx, k.cause, k.by, d)
	return d, receipt, err
}

// add makes the record of the key.
func (k keyPublisher) add(ctx context.Context, zone projections.Resource, name, data string) (*hosting.Draft, domain.Receipt, error) {
	kind, _ := hosting.KindNamed("dns_record")
	d := hosting.NewDraft(kind)
	err := k.asked(ctx, d, map[string]any{"zone": zone.ID, "record_type": dns.TXT, "name": name, "data": data}, field.Create)
	if err != nil {
		return nil, domain.Receipt{}, err
	}
	receipt, _, err := k.service.Create(ctx, k.cause, k.by, d)
	return d, receipt, err
}

// asked prepares a draft as if a caller had sent the fields.
func (k keyPublisher) asked(ctx context.Context, d *hosting.Draft, fields map[string]any, mode field.Mode) (err error) {
	if d.Sent, err = d.Spec.Fields().DecodeJSON(sagas.Encode(fields), mode); err != nil {
		return err
	}
	var wrong field.Errors
	if err := k.service.Prepare(ctx, k.by, d, &wrong); err != nil {
		return err
	}
	return wrong.Err()
}
