package hosting

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"time"

	"hostpanel/domain/field"
)

// A Certificate lets a site serve HTTPS: issued by an authority that speaks
// ACME, or brought along.
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
}

const (
	acme   = "acme"
	custom = "custom"
)

// Fields are the certificate.
func (c *Certificate) Fields() field.Set {
	return field.Set{
		field.Ref("site", &c.Site).Required().Once(),
		field.Text("cert_type", &c.Type).Among(acme, custom).Default(acme).Once(),
		field.Text("domain", &c.Domain).Is(field.Domain).Once().Doc("The site's when absent, or one below it."),
		field.Flag("auto_renew", &c.AutoRenew).Default(true),
		pemText("certificate", &c.Certificate),
		pemText("private_key", &c.PrivateKey),
		pemText("chain", &c.Chain).Default(""),
		field.Text("status", &c.Status).Among("pending", "issued", "failed", "revoked").ReadOnly(),
		field.Text("last_error", &c.LastError).ReadOnly(),
		field.NullTime("expires_at", &c.ExpiresAt).ReadOnly(),
		field.Flag("is_active", &c.IsActive).ReadOnly(),
	}
}

func pemText(name string, at *string) field.Field {
	return field.Text(name, at).Secret().Verbatim().Lines().Max(64 << 10).Once().Doc("PEM; of custom certificates only.")
}

// Derived are fields of an answer that follow from the time it is given.
func (c *Certificate) Derived(now time.Time) field.Set {
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

const day = 24 * time.Hour

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
	c.Status, c.IsActive = "pending", true
}

func (c *Certificate) check(p Place, wrong *field.Errors) {
	if !p.New() {
		return
	}
	site := text(p.Parent, "domain")
	if p.Parent != nil && !wrong.Has("domain") && c.Domain != site && !strings.HasSuffix(c.Domain, "."+site) {
		wrong.Add("domain", "The domain does not belong to the site.")
	}
	if c.Type == custom {
		c.checkPEM(p, wrong)
	}
}

func (c *Certificate) checkPEM(p Place, wrong *field.Errors) {
	for _, name := range []string{"certificate", "private_key"} {
		if !p.Sent.Has(name) {
			wrong.Add(name, field.Missing)
		}
	}
	if !wrong.Has("certificate") && !isPEM(c.Certificate) {
		wrong.Add("certificate", field.Username.Message)
	}
	if !wrong.Has("chain") && c.Chain != "" && !isPEM(c.Chain) {
		wrong.Add("chain", field.Username.Message)
	}
	if wrong.Has("certificate") || wrong.Has("private_key") {
		return
	}
	if _, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey)); err != nil {
		wrong.Add("private_key", "The private key does not match the certificate.")
	}
}

// isPEM tells whether a text is certificates and nothing else.
func isPEM(s string) bool {
	rest, found := []byte(s), false
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return found && strings.TrimSpace(string(rest)) == ""
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return false
		}
		found = true
	}
}
