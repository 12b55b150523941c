package hosting

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Certificates are renewed in time, and the tenant is told when one expires
// (docs/certificates.md, "Renewal"). Each event of a certificate begins a run. It
// waits until the next thing is due, does it, and so begins the run after it.

// renewalOf is the run that an event of a certificate begins.
func (m *Maintenance) renewalOf(fact eventstore.RecordedEvent) (run sagas.Start, begins bool) {
	id, err := strconv.ParseInt(fact.Stream.ID, 10, 64)
	if kind, _ := hosting.KindOf(fact.Stream); !kind.Issued || err != nil || !hosting.Turns(fact.Event) {
		return run, false
	}
	_, fresh := fact.Event.(hosting.CertificateIssued)
	g := hosting.Generation{Kind: fact.Stream.Category, ID: id, Version: fact.Version}
	steps := []string{"certificate.due", "certificate.tend"}
	if fresh {
		steps = []string{"certificate.serve", "certificate.due", "certificate.tend"}
	}
	return m.renewals.Start(g.String(), g, uuid.Nil, steps...), true
}

// certificate is the run's certificate as its stream tells, and whether
// anything has happened to it since that begins another run.
func (m *Maintenance) certificate(ctx context.Context, g *hosting.Generation) (r hosting.Resource, passed bool, err error) {
	r, _, err = eventstore.Fold(ctx, m.Store, hosting.Decider, g.Ref().Stream())
	return r, r.Certificate.Turned > g.Version, err
}

// certificateDue waits for the next thing that has to be done. It looks once a
// day at least, so that a clock that was set is noticed, and a site that is
// served again.
func (m *Maintenance) certificateDue(ctx context.Context, g *hosting.Generation) (bool, sagas.Work, error) {
	r, passed, err := m.certificate(ctx, g)
	if err != nil || passed {
		return passed, sagas.Work{}, err
	}
	served, err := m.servedNow(ctx, g.Ref())
	if err != nil {
		return false, sagas.Work{}, err
	}
	at, is := r.Due(served)
	if _, later := r.Due(true); !is && later {
		return false, sagas.Work{}, sagas.TooEarly("site_inactive", m.Times.CertificateLook)
	}
	left := at.Sub(m.Runner.Now())
	if !is || left <= 0 {
		return true, sagas.Work{}, nil
	}
	return false, sagas.Work{}, sagas.TooEarly("not_due", min(left, m.Times.CertificateLook))
}

// servedNow tells whether the site of a certificate is on, and still has the
// name. Of what is gone it does not matter.
func (m *Maintenance) servedNow(ctx context.Context, ref hosting.Ref) (bool, error) {
	row, site, err := m.withSite(ctx, ref)
	if domain.CodeOf(err) == domain.NotFound {
		return row.ID == 0, nil
	}
	if err != nil || !site.Active {
		return false, err
	}
	return named(row, site)
}

// named tells whether the site of a certificate has the name that it is for.
func named(row, site projections.Resource) (bool, error) {
	var c hosting.Certificate
	var of hosting.Site
	if err := row.Load(&c); err != nil {
		return false, err
	}
	err := site.Load(&of)
	return hosting.Below(c.Domain, of.Domain), err
}

// withSite reads a certificate and its site.
func (m *Maintenance) withSite(ctx context.Context, ref hosting.Ref) (row, site projections.Resource, err error) {
	tables := m.system()
	if row, err = tables.Hosting().Resource(ctx, ref); err != nil {
		return row, site, err
	}
	var c hosting.Certificate
	if err = row.Load(&c); err == nil {
		site, err = tables.Hosting().Resource(ctx, hosting.Ref{Kind: "site", ID: c.Site})
	}
	return row, site, err
}

func (m *Maintenance) tendCertificate(ctx context.Context, g *hosting.Generation) (sagas.Work, error) {
	_, passed, err := m.certificate(ctx, g)
	if err != nil || passed {
		return sagas.Work{}, err
	}
	served, err := m.servedNow(ctx, g.Ref())
	return sagas.Work{Commands: []domain.Command{hosting.Tend{Ref: g.Ref(), At: m.Runner.Now(), Served: served}}}, err
}

// serveHTTPS switches HTTPS on at a site that has got its first certificate.
// Later ones change nothing: a user may have switched it off meanwhile.
func (m *Maintenance) serveHTTPS(ctx context.Context, g *hosting.Generation) (sagas.Work, error) {
	r, _, err := m.certificate(ctx, g)
	if err != nil || r.Certificate.Issues != 1 {
		return sagas.Work{}, err
	}
	site, err := m.siteOfFirst(ctx, g.Ref())
	if domain.CodeOf(err) == domain.NotFound || err == nil && site == 0 {
		return sagas.Work{}, nil // one of them is gone
	}
	if err != nil {
		return sagas.Work{}, err
	}
	return sagas.Work{Commands: []domain.Command{
		hosting.Change{Ref: hosting.Ref{Kind: "site", ID: site}, Spec: field.Values{"ssl_enabled": []byte("true")}},
	}}, nil
}

// siteOfFirst is the site of a certificate, if it serves no HTTPS yet and has
// no other certificate that was issued; 0: it does, or has.
func (m *Maintenance) siteOfFirst(ctx context.Context, ref hosting.Ref) (int64, error) {
	_, row, err := m.withSite(ctx, ref)
	var site hosting.Site
	if err == nil {
		err = row.Load(&site)
	}
	if err != nil || site.SSLEnabled {
		return 0, err
	}
	kind, _ := hosting.KindNamed(certificateKind)
	all, err := m.system().Hosting().OfKind(
		ctx, kind, projections.Listing{Filters: []projections.Filter{{Field: "site", Op: "=", Value: row.ID}}},
	)
	for _, other := range all.Rows {
		if ends := other.Spec["expires_at"]; other.ID != ref.ID && len(ends) > 0 && string(ends) != "null" {
			return 0, nil
		}
	}
	return row.ID, err
}
