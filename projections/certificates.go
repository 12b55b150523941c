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
		On(wished(`spec = spec || $4 || jsonb_build_object('replaces', spec -> 'expires_at')`),
			func(at eventstore.RecordedEvent, e hosting.CertificateOrdered) []any {
				c := hosting.Certificate{Status: hosting.Ordering.Status(), OrderedAt: &e.At, Names: e.Names}
				return resource(at, some(c, "status", "last_error", "ordered_at", "names"))
			}),
		On(noted(`spec || $4`), func(at eventstore.RecordedEvent, e hosting.CertificateIssued) []any {
			c := hosting.Certificate{Status: hosting.Issued.Status(), ExpiresAt: &e.Ends}
			return resource(at, some(c, "status", "last_error", "expires_at", "failures", "failed_at"))
		}),
		On(noted(`spec || $4 || jsonb_build_object('failures', coalesce((spec ->> 'failures')::int, 0) + 1)`),
			func(at eventstore.RecordedEvent, e hosting.CertificateFailed) []any {
				c := hosting.Certificate{Status: hosting.Failed.Status(), LastError: e.Code, FailedAt: &e.At}
				return resource(at, some(c, "status", "last_error", "failed_at"))
			}),
		On(noted(`spec`), func(at eventstore.RecordedEvent, _ hosting.CertificateExpiring) []any { return resource(at) }),
		On(noted(`spec`), func(at eventstore.RecordedEvent, _ hosting.CertificateExpired) []any { return resource(at) }),
	}
}

// some are the named values of a certificate.
func some(c hosting.Certificate, names ...string) field.Values {
	return c.Fields().Only(names...).Values()
}

// noted is what an event does to the spec without a request.
func noted(spec string) string {
	return `update resources set spec = ` + spec + `, updated_at = recorded_at(), version = $3 where kind = $1 and id = $2`
}
