package assembly_test

import (
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// certificatesOf are the acme certificates of the site, by their domain.
func (h *household) certificatesOf(site hosting.Ref) map[string]hosting.Certificate {
	h.t.Helper()
	rows, err := h.tables.For(projections.System).PartsOf(h.t.Context(), "ssl_certificate", "site", site.ID)
	h.must(err)
	all := map[string]hosting.Certificate{}
	for _, row := range rows {
		var c hosting.Certificate
		h.must(row.Load(&c))
		all[c.Domain] = c
	}
	return all
}

// A site that gets another domain gets a certificate for it, as soon as the
// engine serves the name. The old one stays, and is renewed no more. With the
// old name the old certificate is its own again.
func TestARenamedSiteGetsACertificateForItsNewName(t *testing.T) {
	t.Parallel()
	h, a, ref := issuances(t, func(c *hosting.Certificate) {
		c.Domain, c.Names = "example.com", []string{"www.example.com"}
	})
	a.issue(noon.Add(90 * day))
	h.becomesCertificate(ref, "issued")
	h.quiet()

	a.issue(noon.Add(91 * day))
	h.carry(set(theSite, `{"domain":"example.net"}`))
	h.eventually("there is one for the new name", func() bool { return h.certificatesOf(theSite)["example.net"].Status == "issued" })
	h.quiet()
	all := h.certificatesOf(theSite)
	h.equal("certificates", len(all), 2)
	h.equal("renewed", all["example.net"].AutoRenew, true)
	h.equal("covers", all["example.net"].Names, []string{"www.example.net"})
	h.equal("the old one is renewed", all["example.com"].AutoRenew, false)
	h.equal("the old one", all["example.com"].Status, "issued")
	h.equal("until", all["example.com"].ExpiresAt.Equal(noon.Add(90*day)), true)

	h.carry(set(theSite, `{"ip_address":"192.0.2.9"}`)) // nothing is ordered by the way
	h.quiet()
	h.equal("certificates after another change", len(h.certificatesOf(theSite)), 2)

	a.issue(noon.Add(92 * day))
	h.carry(set(theSite, `{"domain":"example.com"}`))
	h.eventually("the old name has its certificate again", func() bool {
		c := h.certificatesOf(theSite)["example.com"]
		return c.AutoRenew && c.ExpiresAt.Equal(noon.Add(92*day))
	})
	h.equal("of the other name", h.certificatesOf(theSite)["example.net"].AutoRenew, false)
}

// Who renews no certificate gets none for a new name, and what the site is no
// more called is not renewed, even while the rename has yet to reach the engine.
func TestNoNameIsRenewedThatTheSiteHasNoMore(t *testing.T) {
	t.Parallel()
	w, clock := certified(t, nil) // whose engine takes nothing in
	w.goes()
	w.issues(theCertificate, noon.Add(90*day))
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"domain": []byte(`"example.net"`)}})
	clock.set(noon.Add(90 * day))
	w.happens(theCertificate, "certificate.expired", 1)
	w.rests()
	w.equal("ordered", w.often(theCertificate.Stream(), "certificate.ordered"), 0)
	w.asks(hosting.Change{Ref: theSite, Spec: field.Values{"domain": []byte(`"example.com"`)}})
	w.happens(theCertificate, "certificate.ordered", 1)
}
