package sandbox

import (
	"crypto/x509"
	"encoding/pem"
	"slices"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

func init() {
	rules["ssl_certificate"] = rule{check: ordered, under: "site", fits: ofSite, goesWith: "site", issued: true}
}

func ordered(o hosting.EngineObject) error {
	return need(slices.Contains([]string{"acme", "custom"}, text(o, "cert_type")), "certificates are ordered or brought along")
}

func ofSite(o, site hosting.EngineObject) bool { return o.Name == site.Name }

// order notes until when a certificate will be valid, and tells how long it
// takes to be issued.
func (e *Engine) order(o *hosting.EngineObject) time.Duration {
	o.Observed["expires_at"] = quoted(e.issued(*o).UTC().Format(time.RFC3339))
	return e.issuing
}

// renewable is how long before its end a certificate is issued anew.
const renewable = 30 * 24 * time.Hour

// issued is until when a certificate that is ordered now will be valid.
func (e *Engine) issued(o hosting.EngineObject) time.Time {
	block, _ := pem.Decode([]byte(o.Secrets["certificate"]))
	if text(o, "cert_type") == "custom" && block != nil {
		if brought, err := x509.ParseCertificate(block.Bytes); err == nil {
			return brought.NotAfter
		}
	}
	ends := e.now().Add(e.issuing + e.validity)
	if former, replaces := field.ParseTime(text(o, "replaces")); replaces && ends.Before(former.Add(time.Second)) {
		ends = former.Add(time.Second) // they could not be told apart
	}
	return ends
}

// reordered tells whether a change is the order of another certificate: this
// one is about to end, or is the one that is to be replaced.
func (e *Engine) reordered(before, after hosting.EngineObject) bool {
	if !rules[after.Kind].issued {
		return false
	}
	expires, err := time.Parse(time.RFC3339, text(hosting.EngineObject{Values: before.Observed}, "expires_at"))
	former, replaces := field.ParseTime(text(after, "replaces"))
	due := err != nil || text(after, "cert_type") == "acme" && (expires.Sub(e.now()) < renewable || replaces && former.Equal(expires))
	return due || len(after.Secrets) > 0 || text(before, "cert_type") != text(after, "cert_type") ||
		text(before, "domain") != text(after, "domain")
}
