package hosting

import (
	"strings"
	"time"

	"hostpanel/domain/field"
)

var certificates = Kind{
	Name: "ssl_certificate", Class: "SSLCertificate", Label: "ssl certificate", Collection: "ssl-certificates", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "certificate", "es": "certificado"},
	Plurals: map[string]string{"en": "Certificates", "es": "Certificados"},
	Shown: words("id site site_domain cert_type domain expires_at is_active auto_renew is_expired days_until_expiry " +
		"status last_error created_at updated_at"),
	Names:   siteDomain,
	Sets:    [][]string{{"site", "cert_type", "domain"}},
	Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
	Filters: []string{"site", "auto_renew", "status", "cert_type", "expires_at__lte"}, Search: []string{"domain"},
	Called: "domain", Issued: true,
	EngineName: domainOf, Quota: "ssl_certificates", Feature: SSLEnabled, Uncounted: true,
	Verbs: Create | Patch | Delete, Writers: Member, New: spec[Certificate],
}

// A Certificate lets a site serve HTTPS. An ACME authority issues it, or the
// tenant uploads it (a custom certificate).
type Certificate struct {
	Site      int64
	Type      string // acme, custom
	Domain    string // the site's, or below it
	AutoRenew bool

	Certificate, PrivateKey, Chain string // PEM, of a custom one

	Status    string // pending, issued, failed, revoked
	LastError string
	ExpiresAt *time.Time // nil: not issued yet
	IsActive  bool

	Names     []string   // further names to cover besides the domain
	OrderedAt *time.Time // time of the last order
	Replaces  *time.Time // expiry of the certificate that the order replaces; nil: it replaces none
	BroughtTo *time.Time // expiry of a custom certificate; nil: an authority issues it
	Failures  int64      // consecutive
	FailedAt  *time.Time // time of the last failure
}

// domainOf is a certificate's key at the engine: the domain of its site.
func domainOf(_, site field.Values) string { return text(site, "domain") }

const custom = "custom"

// Acme is the type of certificates that an authority issues.
const Acme = "acme"

// NotOfSite refuses a domain that is neither the site's nor below it.
const NotOfSite = "The domain does not belong to the site."

// Fields are the certificate.
func (c *Certificate) Fields() field.Set {
	return field.Set{
		field.Ref("site", &c.Site).Required().Once(),
		field.Text("cert_type", &c.Type).Among(Acme, custom).Default(Acme).Once(),
		field.Text("domain", &c.Domain).Is(field.Domain).Once().Doc("The site's when absent, or one below it."),
		field.Flag("auto_renew", &c.AutoRenew).Default(true),
		pemText("certificate", &c.Certificate),
		pemText("private_key", &c.PrivateKey),
		pemText("chain", &c.Chain).Default(""),
		field.Text("status", &c.Status).Among("pending", "issued", "failed", "revoked").ReadOnly(),
		field.Text("last_error", &c.LastError).ReadOnly(),
		field.NullTime("expires_at", &c.ExpiresAt).ReadOnly(),
		field.Flag("is_active", &c.IsActive).ReadOnly(),
		field.Texts("names", &c.Names, nil).ReadOnly(),
		field.NullTime("ordered_at", &c.OrderedAt).ReadOnly(),
		field.NullTime("replaces", &c.Replaces).ReadOnly(),
		field.NullTime("brought_to", &c.BroughtTo).ReadOnly(),
		field.Int("failures", &c.Failures).ReadOnly(),
		field.NullTime("failed_at", &c.FailedAt).ReadOnly(),
	}
}

func pemText(name string, at *string) field.Field {
	return field.Text(name, at).Secret().Verbatim().Lines().Max(64 << 10).Once().Doc("PEM; of custom certificates only.")
}

func (c *Certificate) derived(now time.Time, _ bool) field.Set {
	var days *int64
	expired := false
	if c.ExpiresAt != nil {
		left := c.ExpiresAt.Sub(now)
		n := int64(left / day)
		if left < 0 && left%day != 0 {
			n--
		}
		days, expired = &n, left <= 0
	}
	return field.Set{
		field.Flag("is_expired", &expired).ReadOnly(),
		field.NullInt("days_until_expiry", &days).ReadOnly(),
	}
}

func (c *Certificate) complete(p Place) {
	if !p.New() {
		return
	}
	if c.Domain == "" && !p.Sent.Has("domain") {
		c.Domain = text(p.Parent, "domain")
	}
	if c.Type != custom {
		c.Certificate, c.PrivateKey, c.Chain = "", "", ""
	}
	c.Status, c.IsActive, c.BroughtTo = Ordering.Status(), true, endOf(c.leaf())
	at := p.At.UTC()
	c.OrderedAt = &at
}

func (c *Certificate) check(p Place, wrong *field.Errors) {
	if !p.New() {
		return
	}
	site := text(p.Parent, "domain")
	if p.Parent != nil && !wrong.Has("domain") && !Below(c.Domain, site) {
		wrong.Add("domain", NotOfSite)
	}
	if c.Type == custom {
		c.checkPEM(p, wrong)
	}
}

// NamesUnder returns the further names of the certificate, moved from its
// present domain to another one.
func (c *Certificate) NamesUnder(other string) (names []string) {
	for _, name := range c.Names {
		if Below(name, c.Domain) {
			names = append(names, strings.TrimSuffix(name, c.Domain)+other)
		}
	}
	return names
}

// Below tells whether a domain is a site's own, or below it.
func Below(domain, site string) bool { return domain == site || strings.HasSuffix(domain, "."+site) }
