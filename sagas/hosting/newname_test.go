package hosting_test

import (
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// certificatesOf are the acme certificates of the site, by their domain.
func certificatesOf(h *sagastest.Household, site hosting.Ref) map[string]hosting.Certificate {
	h.T.Helper()
	rows, err := h.Tables.For(projections.System).Hosting().PartsOf(h.T.Context(), "ssl_certificate", "site", site.ID)
	h.Must(err)
	all := map[string]hosting.Certificate{}
	for _, row := range rows {
		var c hosting.Certificate
		h.Must(row.Load(&c))
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
	a.issue(sagastest.Noon.Add(90 * sagastest.Day))
	becomesCertificate(h, ref, "issued")
	h.Quiet()

	a.issue(sagastest.Noon.Add(91 * sagastest.Day))
	h.Carry(sagastest.Set(sagastest.TheSite, `{"domain":"example.net"}`))
	h.Eventually("there is one for the new name", func() bool {
		return certificatesOf(h, sagastest.TheSite)["example.net"].Status == "issued"
	})
	h.Quiet()
	all := certificatesOf(h, sagastest.TheSite)
	h.Equal("certificates", len(all), 2)
	h.Equal("renewed", all["example.net"].AutoRenew, true)
	h.Equal("covers", all["example.net"].Names, []string{"www.example.net"})
	h.Equal("the old one is renewed", all["example.com"].AutoRenew, false)
	h.Equal("the old one", all["example.com"].Status, "issued")
	h.Equal("until", all["example.com"].ExpiresAt.Equal(sagastest.Noon.Add(90*sagastest.Day)), true)

	h.Carry(sagastest.Set(sagastest.TheSite, `{"ip_address":"192.0.2.9"}`)) // nothing is ordered by the way
	h.Quiet()
	h.Equal("certificates after another change", len(certificatesOf(h, sagastest.TheSite)), 2)

	a.issue(sagastest.Noon.Add(92 * sagastest.Day))
	h.Carry(sagastest.Set(sagastest.TheSite, `{"domain":"example.com"}`))
	h.Eventually("the old name has its certificate again", func() bool {
		c := certificatesOf(h, sagastest.TheSite)["example.com"]
		return c.AutoRenew && c.ExpiresAt.Equal(sagastest.Noon.Add(92*sagastest.Day))
	})
	h.Equal("of the other name", certificatesOf(h, sagastest.TheSite)["example.net"].AutoRenew, false)
}

// Who renews no certificate gets none for a new name, and what the site is no
// more called is not renewed, even while the rename has yet to reach the engine.
func TestNoNameIsRenewedThatTheSiteHasNoMore(t *testing.T) {
	t.Parallel()
	w, clock := sagastest.Certified(t, nil) // whose engine takes nothing in
	w.Goes()
	sagastest.Issues(w, sagastest.TheCertificate, sagastest.Noon.Add(90*sagastest.Day))
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"domain": []byte(`"example.net"`)}})
	clock.Set(sagastest.Noon.Add(90 * sagastest.Day))
	happens(w, sagastest.TheCertificate, "certificate.expired", 1)
	rests(w)
	w.Equal("ordered", w.Often(sagastest.TheCertificate.Stream(), "certificate.ordered"), 0)
	w.Asks(hosting.Change{Ref: sagastest.TheSite, Spec: field.Values{"domain": []byte(`"example.com"`)}})
	happens(w, sagastest.TheCertificate, "certificate.ordered", 1)
}
