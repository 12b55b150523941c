package projections

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// issuances are what certificates go through beside the life of all kinds
// (docs/certificates.md): it stands in their specs, where lists find it.
func issuances() []Handler {
	return []Handler{
		On(func(at eventstore.RecordedEvent, e hosting.CertificateOrdered) Change {
			c := hosting.Certificate{Status: hosting.Ordering.Status(), OrderedAt: &e.At, Names: e.Names}
			spec := merging.call(merged(some(c, "status", "last_error", "ordered_at", "names")), copying.call(keep, word("replaces"), word("expires_at")))
			return wished(at, Column{"spec", spec})
		}),
		On(func(at eventstore.RecordedEvent, e hosting.CertificateIssued) Change {
			c := hosting.Certificate{Status: hosting.Issued.Status(), ExpiresAt: &e.Ends}
			return stated(at, Column{"spec", merged(some(c, "status", "last_error", "expires_at", "failures", "failed_at"))})
		}),
		On(func(at eventstore.RecordedEvent, e hosting.CertificateFailed) Change {
			c := hosting.Certificate{Status: hosting.Failed.Status(), LastError: e.Code, FailedAt: &e.At}
			return stated(at, Column{"spec", merging.call(merged(some(c, "status", "last_error", "failed_at")), increment.call(keep, word("failures")))})
		}),
		On(func(at eventstore.RecordedEvent, _ hosting.CertificateExpiring) Change { return stated(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.CertificateExpired) Change { return stated(at) }),
	}
}

// some are the named values of a certificate.
func some(c hosting.Certificate, names ...string) field.Values {
	return c.Fields().Only(names...).Values()
}
