package sagas

import (
	"context"
	"fmt"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// What certificates need besides the engine: they are renewed in time, and
// somebody hears of it when one expires (docs/certificates.md, "Renewal").
// Whatever happens to a certificate begins a run, which waits until the next
// thing is due, does it, and so begins the run after it.

const (
	certificateKind = "ssl_certificate"
	renewalDef      = "renewal/1"
)

var renewal = map[bool][]string{
	false: {"certificate.due", "certificate.tend"},
	true:  {"certificate.serve", "certificate.due", "certificate.tend"}, // a new one has been issued
}

func (s *Sagas) certificateSteps() []step {
	return []step{
		{
			name: "certificate.serve", says: "let the site serve HTTPS with its first certificate", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.serveHTTPS},
		},
		{
			name: "certificate.due", says: "wait until the certificate is to be renewed, or about to expire", queue: localQueue, policy: s.policies.due,
			wait: &until{ready: s.certificateDue},
		},
		{
			name: "certificate.tend", says: "order the certificate again, or tell that it expires", queue: localQueue, policy: s.policies.local,
			local: &local{do: s.tendCertificate},
		},
	}
}

// renewalOf is the run that a fact about a certificate begins.
func (s *Sagas) renewalOf(fact eventstore.Recorded) (run Start, begins bool) {
	id, err := strconv.ParseInt(fact.Stream.ID, 10, 64)
	if fact.Stream.Category != certificateKind || err != nil || !hosting.Turns(fact.Event) {
		return run, false
	}
	_, fresh := fact.Event.(hosting.CertificateIssued)
	job := Job{Kind: certificateKind, ID: id, Version: fact.Version}
	key := fmt.Sprintf("renewal:%s/%d", fact.Stream, fact.Version)
	return Start{Key: key, Def: renewalDef, Steps: s.places(renewal[fresh]), Job: job}, true
}

// certificate is the run's certificate as its stream tells, and whether
// anything has happened to it since that begins another run.
func (s *Sagas) certificate(ctx context.Context, job Job) (r hosting.Resource, passed bool, err error) {
	r, _, err = eventstore.Fold(ctx, s.store, hosting.Decider, job.ref().Stream())
	return r, r.Certificate.Turned > job.Version, err
}

// certificateDue waits for the next thing that has to be done. It looks once a
// day at least, so that a clock that was set is noticed, and a site that is
// served again.
func (s *Sagas) certificateDue(ctx context.Context, job Job) (bool, Work, error) {
	r, passed, err := s.certificate(ctx, job)
	if err != nil || passed {
		return passed, Work{}, err
	}
	served, err := s.servedNow(ctx, job.ref())
	if err != nil {
		return false, Work{}, err
	}
	at, is := r.Due(served)
	if _, later := r.Due(true); !is && later {
		return false, Work{}, wait("site_inactive", s.times.CertificateLook)
	}
	left := at.Sub(s.now())
	if !is || left <= 0 {
		return true, Work{}, nil
	}
	return false, Work{}, wait("not_due", min(left, s.times.CertificateLook))
}

// servedNow tells whether the site of a certificate is on, and still has the
// name. Of what is gone it does not matter.
func (s *Sagas) servedNow(ctx context.Context, ref hosting.Ref) (bool, error) {
	row, site, err := s.withSite(ctx, ref)
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
func (s *Sagas) withSite(ctx context.Context, ref hosting.Ref) (row, site projections.Resource, err error) {
	tables := s.tables.For(projections.System)
	if row, err = tables.Resource(ctx, ref); err != nil {
		return row, site, err
	}
	var c hosting.Certificate
	if err = row.Load(&c); err == nil {
		site, err = tables.Resource(ctx, hosting.Ref{Kind: "site", ID: c.Site})
	}
	return row, site, err
}

func (s *Sagas) tendCertificate(ctx context.Context, job Job) (Work, error) {
	_, passed, err := s.certificate(ctx, job)
	if err != nil || passed {
		return Work{}, err
	}
	served, err := s.servedNow(ctx, job.ref())
	return Work{Commands: []domain.Command{hosting.Tend{Ref: job.ref(), At: s.now(), Served: served}}}, err
}

// serveHTTPS switches HTTPS on at a site that has got its first certificate.
// Later ones change nothing: somebody may have switched it off meanwhile.
func (s *Sagas) serveHTTPS(ctx context.Context, job Job) (Work, error) {
	r, _, err := s.certificate(ctx, job)
	if err != nil || r.Certificate.Issues != 1 {
		return Work{}, err
	}
	site, err := s.siteOfFirst(ctx, job.ref())
	if domain.CodeOf(err) == domain.NotFound || err == nil && site == 0 {
		return Work{}, nil // one of them is gone
	}
	if err != nil {
		return Work{}, err
	}
	return Work{Commands: []domain.Command{
		hosting.Change{Ref: hosting.Ref{Kind: "site", ID: site}, Spec: field.Values{"ssl_enabled": []byte("true")}},
	}}, nil
}

// siteOfFirst is the site of a certificate, if it serves no HTTPS yet and has
// no other certificate that was issued; 0: it does, or has.
func (s *Sagas) siteOfFirst(ctx context.Context, ref hosting.Ref) (int64, error) {
	_, row, err := s.withSite(ctx, ref)
	var site hosting.Site
	if err == nil {
		err = row.Load(&site)
	}
	if err != nil || site.SSLEnabled {
		return 0, err
	}
	kind, _ := hosting.KindNamed(certificateKind)
	all, err := s.tables.For(projections.System).OfKind(ctx, kind, projections.Listing{Filters: []projections.Filter{{Field: "site", Op: "=", Value: row.ID}}})
	for _, other := range all.Rows {
		if ends := other.Spec["expires_at"]; other.ID != ref.ID && len(ends) > 0 && string(ends) != "null" {
			return 0, nil
		}
	}
	return row.ID, err
}
