package http

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Certificates are served like all kinds; what is particular about them is that
// they can be ordered again (docs/certificates.md, "API").

const certificateKind = "ssl_certificate"

// An acmeRequest asks for a certificate that is there, or was.
type acmeRequest struct{ Force bool }

// Fields are the request.
func (r *acmeRequest) Fields() field.Set {
	return field.Set{
		field.Flag("force", &r.Force).Default(false).Doc("Order a new one although the present one is good for more than 30 days."),
	}
}

// An sslRequest asks for the certificate of a site, by the names that it is to
// cover.
type sslRequest struct {
	Domains []string
	acmeRequest
}

const mostNames = 100 // of a certificate

// Fields are the request.
func (r *sslRequest) Fields() field.Set {
	return append(field.Set{
		field.Texts("domains", &r.Domains, func(f field.Field) field.Field { return f.Is(field.Domain) }).Max(mostNames).
			Doc("The site's own domain, or others below it; without, the site's own."),
	}, r.acmeRequest.Fields()...)
}

// certificates are the resources of the kind.
func (s *Server) certificates() *collection { return s.kindOf(certificateKind) }

func (s *Server) kindOf(name string) *collection {
	kind, known := hosting.KindNamed(name)
	if !known {
		panic("http: there is no kind " + name)
	}
	return &collection{s, kind}
}

const (
	notAcme     = "It was brought along (wrong_cert_type), or the site is not active (site_inactive)."
	restsNow    = "The authority is left alone for a while after failures."
	orderedOnce = "While an order stands there is no second one: the answer is the same record."
)

func (s *Server) certificateRoutes() []route.Route {
	sites, certificates := s.kindOf("site"), s.certificates()
	one := certificates.path() + "{id:int}/"
	action := func(r route.Route, k *collection, name string) route.Route {
		r = r.As(name).With(http.StatusAccepted).Of(k.kind.Class).For(k.writers()).Finding(k.findOpen).
			Failing(http.StatusConflict, notAcme).Failing(http.StatusTooManyRequests, restsNow).Saying(orderedOnce)
		return r.Answering(func() field.Set { return (&hosted{wish: certificates.empty()}).Fields() })
	}
	return []route.Route{
		action(route.Post(sites.path()+"{id:int}/request_ssl/", "Request a certificate for a site", s.requestSSL), sites, "site_request_ssl").
			Checking(route.Check(s.checkDomains)),
		action(route.Post(one+"request_acme/", "Request a certificate again", s.requestAcme), certificates, "ssl_certificate_request_acme"),
		action(route.Post(one+"renew/", "Renew a certificate", s.renewCertificate), certificates, "ssl_certificate_renew"),
	}
}

// checkDomains refuses names that are not the site's.
func (s *Server) checkDomains(_ context.Context, c route.Call, r *sslRequest, wrong *field.Errors) error {
	if wrong.Has("domains") {
		return nil
	}
	var items field.Errors
	for i, name := range r.Domains {
		if !hosting.Below(name, siteOf(c).Domain) {
			items.Add(strconv.Itoa(i), hosting.NotOfSite)
		}
	}
	if len(items) > 0 {
		*wrong = append(*wrong, field.Wrong{Field: "domains", Items: items})
	}
	return nil
}

// siteOf is the site that a call names.
func siteOf(c route.Call) *hosting.Site {
	return c.Subject.(*wish).spec.(*hosting.Site) //nolint:forcetypeassert // found by find, among sites
}

// requestSSL orders the site's certificate: the one that there is, or a new one.
func (s *Server) requestSSL(ctx context.Context, c route.Call, r *sslRequest) (*hosted, error) {
	site, k := c.Subject.(*wish), s.certificates() //nolint:forcetypeassert // found by find
	if err := s.sparing(ctx, site.tenant); err != nil {
		return nil, err
	}
	if !siteOf(c).IsActive {
		return nil, hosting.ErrSiteInactive
	}
	name, others := coverage(siteOf(c).Domain, r.Domains)
	row, err := k.ofSite(ctx, site.row.ID, name)
	if isMissing(err) {
		row, err = k.first(ctx, c, site, name, others)
		if domain.CodeOf(err) != domain.Invalid || overQuota(err) {
			return k.accepted(ctx, c, row, err)
		}
		row, err = k.ofSite(ctx, site.row.ID, name) // somebody else was faster
	}
	if err != nil {
		return nil, err
	}
	if len(r.Domains) == 0 {
		others = nil
	}
	return k.order(ctx, c, row, hosting.Order{Anew: r.Force, Names: others})
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
func (k *collection) ofSite(ctx context.Context, site int64, name string) (projections.Resource, error) {
	found, err := k.system().OfKind(ctx, k.kind, projections.Listing{Limit: 1, Filters: []projections.Filter{
		{Field: "site", Op: "=", Value: site}, {Field: "cert_type", Op: "=", Value: hosting.Acme}, {Field: "domain", Op: "=", Value: name},
	}})
	if err != nil {
		return projections.Resource{}, err
	}
	if len(found.Rows) == 0 {
		return projections.Resource{}, route.Missing(k.kind.Class)
	}
	return found.Rows[0], nil
}

// first asks for a certificate that there has not been, if the tenant may have
// it.
func (k *collection) first(ctx context.Context, c route.Call, site *wish, name string, others []string) (row projections.Resource, err error) {
	id, err := k.number(ctx, k.kind.Name)
	if err != nil {
		return row, err
	}
	cert := hosting.Certificate{Site: site.row.ID, Type: hosting.Acme, Domain: name, Names: others, AutoRenew: true}
	hosting.Complete(&cert, hosting.Place{ID: id, Tenant: site.row.Tenant, At: k.now(), Parent: site.row.Spec})
	ref := hosting.Ref{Kind: k.kind.Name, ID: id}
	if err := k.checkLimit(ctx, &wish{tenant: site.row.Tenant}); err != nil {
		return row, err
	}
	c.Location(k.pathOf(id))
	if _, err = k.Commands.Execute(ctx, c.Cause(), hosting.Request{Ref: ref, Tenant: site.row.Tenant, Spec: cert.Fields().Values()}); err != nil {
		return row, err
	}
	return k.system().Resource(ctx, ref)
}

func (k *collection) pathOf(id int64) string { return k.path() + strconv.FormatInt(id, 10) + "/" }

func (s *Server) requestAcme(ctx context.Context, c route.Call, r *acmeRequest) (*hosted, error) {
	return s.certificates().orderAgain(ctx, c, hosting.Order{Anew: r.Force})
}

func (s *Server) renewCertificate(ctx context.Context, c route.Call, _ *acmeRequest) (*hosted, error) {
	return s.certificates().orderAgain(ctx, c, hosting.Order{Anew: true})
}

func (k *collection) orderAgain(ctx context.Context, c route.Call, order hosting.Order) (*hosted, error) {
	w := c.Subject.(*wish) //nolint:forcetypeassert // found by find
	if err := k.sparing(ctx, w.row.Tenant); err != nil {
		return nil, err
	}
	if err := k.orderable(ctx, w); err != nil {
		return nil, err
	}
	return k.order(ctx, c, w.row, order)
}

// orderable refuses to order what was brought along, or anything for a site
// that is not served, or has another name by now: no authority would find it.
func (k *collection) orderable(ctx context.Context, w *wish) error {
	cert, is := w.spec.(*hosting.Certificate)
	switch {
	case !is:
		return nil
	case cert.Type != hosting.Acme && !w.isNew():
		return hosting.ErrNotAcme
	case cert.Type != hosting.Acme:
		return nil
	}
	row, err := k.system().Resource(ctx, hosting.Ref{Kind: "site", ID: cert.Site})
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

// order orders a certificate that there is, and shows it.
func (k *collection) order(ctx context.Context, c route.Call, row projections.Resource, order hosting.Order) (*hosted, error) {
	order.Ref, order.At = hosting.Ref{Kind: row.Kind, ID: row.ID}, k.now()
	c.Location(k.pathOf(row.ID))
	_, err := k.Commands.Execute(ctx, c.CauseOf(domain.Versions{order.Stream(): row.Version}), order)
	if domain.CodeOf(err) == domain.Throttled {
		return nil, k.resting(row, err)
	}
	if err == nil {
		row, err = k.system().Resource(ctx, order.Ref)
	}
	return k.accepted(ctx, c, row, err)
}

// resting says how long an authority is left alone.
func (k *collection) resting(row projections.Resource, refused error) error {
	var cert hosting.Certificate
	if err := row.Load(&cert); err != nil {
		return errors.Join(refused, err)
	}
	return route.Throttle(max(cert.Wait(k.now()), time.Second))
}

// accepted shows a certificate that has been ordered.
func (k *collection) accepted(ctx context.Context, c route.Call, row projections.Resource, err error) (*hosted, error) {
	if err != nil {
		return nil, err
	}
	w, err := k.whole(ctx, k.scopeOf(c), row)
	return &hosted{wish: w, now: k.now()}, err
}
