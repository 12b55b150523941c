package hosting

import (
	"context"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// Certificates are made like all kinds, and can be ordered again
// (docs/certificates.md, "API").

const certificateKind = "ssl_certificate"

// RequestCertificate orders the certificate of a site: the one that there is,
// or a new one. It covers the domains; none: the site's own. The function
// located is told its number before it is ordered.
func (s *Service) RequestCertificate(
	ctx context.Context, cause hosting.Cause, by projections.Caller, site *hosting.Draft, domains []string, anew bool,
	located func(id int64),
) (projections.Resource, error) {
	of := site.Spec.(*hosting.Site) //nolint:forcetypeassert // of the kind
	if !of.IsActive {
		return projections.Resource{}, hosting.ErrSiteInactive
	}
	name, others := coverage(of.Domain, domains)
	row, err := s.ofSite(ctx, site.ID, name)
	if isMissing(err) {
		row, err = s.firstCertificate(ctx, cause, by, site, name, others, located)
		if domain.CodeOf(err) != domain.Invalid || isOverQuota(err) {
			return row, err
		}
		row, err = s.ofSite(ctx, site.ID, name) // another call was faster
	}
	if err != nil {
		return row, err
	}
	if len(domains) == 0 {
		others = nil
	}
	return s.order(ctx, cause, row, hosting.Order{Anew: anew, Names: others}, located)
}

// OrderCertificate orders a certificate again that there is.
func (s *Service) OrderCertificate(
	ctx context.Context, cause hosting.Cause, row projections.Resource, anew bool, located func(id int64),
) (projections.Resource, error) {
	d, err := row.Draft()
	if err != nil {
		return row, err
	}
	if err := s.orderable(ctx, d); err != nil {
		return row, err
	}
	return s.order(ctx, cause, row, hosting.Order{Anew: anew}, located)
}

// coverage is the name that a certificate goes by, and those that it is to
// cover besides: the site's own goes first.
func coverage(own string, names []string) (name string, others []string) {
	if len(names) == 0 || slices.Contains(names, own) {
		name = own
	} else {
		name = names[0]
	}
	others = []string{}
	for _, other := range names {
		if other != name && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	return name, others
}

// ofSite is the certificate of a site that was ordered for a domain.
func (s *Service) ofSite(ctx context.Context, site int64, name string) (projections.Resource, error) {
	kind, _ := hosting.KindNamed(certificateKind)
	found, err := s.system().Hosting().OfKind(ctx, kind, projections.Listing{Limit: 1, Filters: []projections.Filter{
		{Field: "site", Op: "=", Value: site}, {Field: "cert_type", Op: "=", Value: hosting.Acme}, {Field: "domain", Op: "=", Value: name},
	}})
	if err != nil {
		return projections.Resource{}, err
	}
	if len(found.Rows) == 0 {
		return projections.Resource{}, missing(kind.Class)
	}
	return found.Rows[0], nil
}

// firstCertificate asks for a certificate that there has not been, if the
// tenant may have it.
func (s *Service) firstCertificate(
	ctx context.Context, cause hosting.Cause, by projections.Caller, site *hosting.Draft, name string, others []string,
	located func(id int64),
) (row projections.Resource, err error) {
	kind, _ := hosting.KindNamed(certificateKind)
	d := hosting.NewDraft(kind)
	d.Spec, d.Tenant = &hosting.Certificate{Site: site.ID, Type: hosting.Acme, Domain: name, Names: others, AutoRenew: true}, site.Tenant
	if d.ID, err = s.nextID(ctx, kind.Name); err != nil {
		return row, err
	}
	place := s.placeOf(by, d)
	place.Parent = site.Found
	hosting.Complete(d.Spec, place)
	if err := s.checkLimit(ctx, d); err != nil {
		return row, err
	}
	located(d.ID)
	request := hosting.Request{Ref: d.Ref(), Tenant: d.Tenant, Spec: d.Spec.Fields().Values()}
	if _, err = s.Resources.Carry(ctx, cause(nil), nil, request); err != nil {
		return row, err
	}
	return s.system().Hosting().Resource(ctx, d.Ref())
}

// orderable refuses to order what was brought along, or anything for a site
// that is not served, or has another name by now: no authority would find it.
func (s *Service) orderable(ctx context.Context, d *hosting.Draft) error {
	if !d.Kind.Issued {
		return nil
	}
	cert := d.Spec.(*hosting.Certificate) //nolint:forcetypeassert // of the kind
	switch {
	case cert.Type != hosting.Acme && !d.IsNew():
		return hosting.ErrNotAcme
	case cert.Type != hosting.Acme:
		return nil
	}
	row, err := s.system().Hosting().Resource(ctx, hosting.Ref{Kind: "site", ID: cert.Site})
	if isMissing(err) || err == nil && !row.Active {
		return hosting.ErrSiteInactive
	}
	var site hosting.Site
	if err == nil {
		err = row.Load(&site)
	}
	if err == nil && !hosting.Below(cert.Domain, site.Domain) {
		err = domain.RefuseField("domain", hosting.NotOfSite)
	}
	return err
}

// order orders a certificate that there is. If its authority is left alone for
// a while, the error is domain.Throttled and the row is the certificate so far.
func (s *Service) order(
	ctx context.Context, cause hosting.Cause, row projections.Resource, order hosting.Order, located func(id int64),
) (projections.Resource, error) {
	order.Ref, order.At = row.Ref(), s.now()
	located(row.ID)
	if _, err := s.Resources.Carry(ctx, cause(domain.Versions{order.Stream(): row.Version}), nil, order); err != nil {
		return row, err
	}
	return s.system().Hosting().Resource(ctx, order.Ref)
}
