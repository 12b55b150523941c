package sagas

import (
	"context"
	"time"

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
func (s *Sagas) renewalOf(fact eventstore.Recorded, e hosting.Event) (run Start, begins bool) {
	if fact.Stream.Category != certificateKind || !hosting.Turns(e) {
		return run, false
	}
	_, fresh := e.(hosting.CertificateIssued)
	job := Job{Kind: certificateKind, ID: numberOf(fact.Stream), Version: fact.Version}
	return Start{Key: runKey("renewal", job), Def: renewalDef, Steps: s.places(renewal[fresh]), Job: job}, true
}

// certificate is the run's certificate as its stream tells, and whether
// anything has happened to it since that begins another run.
func (s *Sagas) certificate(ctx context.Context, job Job) (r hosting.Resource, passed bool, err error) {
	r, _, err = eventstore.Fold(ctx, s.store, hosting.Decider, hosting.Ref{Kind: job.Kind, ID: job.ID}.Stream())
	return r, r.Certificate.Turned > job.Version, err
}

// certificateDue waits for the next thing that has to be done. It looks once a
// day at least, so that a clock that was set is noticed.
func (s *Sagas) certificateDue(ctx context.Context, job Job) (bool, Work, error) {
	r, passed, err := s.certificate(ctx, job)
	if err != nil {
		return false, Work{}, err
	}
	at, is := r.Due()
	left := at.Sub(s.now())
	if passed || !is || left <= 0 {
		return true, Work{}, nil
	}
	return false, Work{}, wait("not_due", min(left, s.times.Due))
}

func (s *Sagas) tendCertificate(ctx context.Context, job Job) (Work, error) {
	_, passed, err := s.certificate(ctx, job)
	if err != nil || passed {
		return Work{}, err
	}
	return Work{Commands: []domain.Command{hosting.Tend{Ref: hosting.Ref{Kind: job.Kind, ID: job.ID}, At: s.now()}}}, nil
}

// serveHTTPS switches HTTPS on at a site that has got its first certificate.
// Later ones change nothing: somebody may have switched it off meanwhile.
func (s *Sagas) serveHTTPS(ctx context.Context, job Job) (Work, error) {
	r, _, err := s.certificate(ctx, job)
	if err != nil || r.Certificate.Issues != 1 {
		return Work{}, err
	}
	row, c, err := s.certificateRow(ctx, job)
	if missing(err) {
		return Work{}, nil
	}
	if err != nil {
		return Work{}, err
	}
	ref := hosting.Ref{Kind: "site", ID: c.Site}
	site, err := s.tables.For(projections.System).Resource(ctx, ref)
	if missing(err) {
		return Work{}, nil
	}
	first, others := false, error(nil)
	if err == nil {
		first, others = s.firstOfSite(ctx, row)
	}
	if err != nil || others != nil || !first || string(site.Spec["ssl_enabled"]) == "true" {
		return Work{}, cmpErr(err, others)
	}
	return Work{Commands: []domain.Command{hosting.Change{Ref: ref, Spec: field.Values{"ssl_enabled": []byte("true")}}}}, nil
}
