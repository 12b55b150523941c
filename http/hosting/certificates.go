package hosting

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
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

const (
	notAcme     = "It was brought along (wrong_cert_type), or the site is not active (site_inactive)."
	restsNow    = "The authority is left alone for a while after failures."
	orderedOnce = "While an order stands there is no second one: the answer is the same record."
)

func (s *certificates) routes() []route.Route {
	sites, certificates := s.kinds.named("site"), s.kinds.named(certificateKind)
	one := certificates.path() + "{id:int}/"
	action := func(r route.Route, k *collection, name string) route.Route {
		r = r.As(name).With(http.StatusAccepted).Of(k.kind.Class).For(k.writers()).Finding(k.findOpen).
			Failing(http.StatusConflict, notAcme).Failing(http.StatusTooManyRequests, restsNow).Saying(orderedOnce)
		return r.Answering(func() field.Set { return (&hosted{resource: certificates.empty()}).Fields() })
	}
	return []route.Route{
		action(
			route.Post(sites.path()+"{id:int}/request_ssl/", "Request a certificate for a site", s.requestSSL), sites,
			"site_request_ssl",
		).
			Checking(route.Check(s.checkDomains)),
		action(route.Post(one+"request_acme/", "Request a certificate again", s.requestAcme), certificates, "ssl_certificate_request_acme"),
		action(route.Post(one+"renew/", "Renew a certificate", s.renewCertificate), certificates, "ssl_certificate_renew"),
	}
}

// checkDomains refuses names that are not the site's.
func (s *certificates) checkDomains(_ context.Context, c route.Call, r *sslRequest, wrong *field.Errors) error {
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
	return c.Subject.(*resource).Spec.(*hosting.Site) //nolint:forcetypeassert // found by find, among sites
}

// requestSSL orders the site's certificate: the one that there is, or a new one.
func (s *certificates) requestSSL(ctx context.Context, c route.Call, r *sslRequest) (*hosted, error) {
	site, k := c.Subject.(*resource), s.kinds.named(certificateKind) //nolint:forcetypeassert // found by find
	if err := k.sparing(ctx, site.Tenant); err != nil {
		return nil, err
	}
	row, err := s.service.RequestCertificate(ctx, c.CauseOf, caller.Of(c).Reader(), site.Draft, r.Domains, r.Force, k.located(c))
	return k.accepted(ctx, c, row, err)
}

func (k *collection) pathOf(id int64) string { return k.path() + strconv.FormatInt(id, 10) + "/" }

// located says where the record stands that an answer is about.
func (k *collection) located(c route.Call) func(id int64) {
	return func(id int64) { c.Location(k.pathOf(id)) }
}

func (s *certificates) requestAcme(ctx context.Context, c route.Call, r *acmeRequest) (*hosted, error) {
	return s.kinds.named(certificateKind).orderAgain(ctx, c, r.Force)
}

func (s *certificates) renewCertificate(ctx context.Context, c route.Call, _ *acmeRequest) (*hosted, error) {
	return s.kinds.named(certificateKind).orderAgain(ctx, c, true)
}

func (k *collection) orderAgain(ctx context.Context, c route.Call, anew bool) (*hosted, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	if err := k.sparing(ctx, w.Tenant); err != nil {
		return nil, err
	}
	row, err := k.service.OrderCertificate(ctx, c.CauseOf, w.row, anew, k.located(c))
	return k.accepted(ctx, c, row, err)
}

// resting says how long an authority is left alone.
func (k *collection) resting(row projections.Resource, refused error) error {
	var cert hosting.Certificate
	if err := row.Load(&cert); err != nil {
		return errors.Join(refused, err)
	}
	return route.Throttle(max(cert.Wait(k.callers.Now()), time.Second))
}

// accepted shows a certificate that has been ordered.
func (k *collection) accepted(ctx context.Context, c route.Call, row projections.Resource, err error) (*hosted, error) {
	switch {
	case domain.CodeOf(err) == domain.Throttled:
		return nil, k.resting(row, err)
	case err != nil:
		return nil, err
	}
	w, err := k.whole(ctx, k.scopeOf(c), row)
	return &hosted{resource: w, now: k.callers.Now()}, err
}
