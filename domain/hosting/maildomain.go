package hosting

import (
	"encoding/base64"
	"strings"

	"hostpanel/domain/field"
)

var mailDomains = Kind{
	Name: "mail_domain", Class: "MailDomain", Label: "mail domain", Collection: "mail-domains",
	EngineID: "hosting_mail_domain_id", CanBeDisabled: true, KeyIn: "dns_record",
	Nouns:   map[string]string{"en": "mail domain", "es": "dominio de correo"},
	Plurals: map[string]string{"en": "Mail domains", "es": "Dominios de correo"},
	Shown: words("id tenant tenant_name domain hosting_mail_domain_id dkim_enabled dkim_selector dkim_public " +
		"mailboxes_count aliases_count is_active " +
		"sync_status sync_error created_at updated_at"),
	Counts: []Count{
		{Field: "mailboxes_count", Kind: "mailbox", By: "mail_domain"},
		{Field: "aliases_count", Kind: "mail_alias", By: "mail_domain"},
	},
	Unique: []string{"domain"}, Claims: "domain", InUse: "The mail domain still has mailboxes.",
	Filters: []string{"domain"}, Search: []string{"domain"}, Called: "domain",
	NamedBy: []string{"domain"}, Quota: "mail_domains", Plan: "quota_domains", Verbs: All, Writers: Member, New: spec[MailDomain],
}

// A MailDomain is a domain that receives mail.
type MailDomain struct {
	Domain       string
	DKIM         bool // mails are signed
	DKIMSelector string
	DKIMPublic   string // what DNS has to say of the key; empty while mails are not signed
	DKIMPrivate  string // sealed, until the engine has it
	IsActive     bool
}

// Fields are the mail domain.
func (d *MailDomain) Fields() field.Set {
	return field.Set{
		field.Text("domain", &d.Domain).Required().Is(field.Domain).Once(),
		field.Flag("dkim_enabled", &d.DKIM).Default(false),
		field.Text("dkim_selector", &d.DKIMSelector).Is(field.Match(`^[a-z0-9]{1,63}$`)).Default("default"),
		field.Text("dkim_public", &d.DKIMPublic).ReadOnly().Doc("What to publish in DNS; blank while mails are not signed."),
		field.Text("dkim_private", &d.DKIMPrivate).Secret().ReadOnly(),
		field.Flag("is_active", &d.IsActive).Default(true),
	}
}

func (d *MailDomain) complete(Place) {
	if !d.DKIM {
		d.DKIMPublic, d.DKIMPrivate = "", ""
	}
}

// NeedsKey reports whether a draft wants mails to be signed and has no key for it:
// signing was off, or another selector was chosen. A selector names one key, so
// another selector is how a key is replaced.
func NeedsKey(d *Draft) bool {
	m, is := d.Spec.(*MailDomain)
	if !is || !m.DKIM {
		return false
	}
	return m.DKIMPublic == "" || !d.IsNew() && text(d.Before(), "dkim_selector") != m.DKIMSelector
}

// SetKey gives a draft the key that it needs: the private part in PEM, and the DER
// form of the public part.
func SetKey(d *Draft, private string, public []byte) {
	if m, is := d.Spec.(*MailDomain); is {
		m.DKIMPrivate, m.DKIMPublic = private, dkimPrefix+base64.StdEncoding.EncodeToString(public)
	}
}

// KeyRecord is the TXT record under which the world finds the key of a mail domain:
// its full name, with the final dot, and its text. False: mails are not signed.
func KeyRecord(s Spec) (name, data string, signs bool) {
	m, is := s.(*MailDomain)
	if !is || !m.DKIM || m.DKIMPublic == "" {
		return "", "", false
	}
	return m.DKIMSelector + "._domainkey." + m.Domain + ".", m.DKIMPublic, true
}

// IsKey tells whether a text of DNS is a key for the signatures of mails.
func IsKey(text string) bool { return strings.HasPrefix(text, "v=DKIM1") }

// dkimPrefix begins the record of a key of RSA (RFC 6376, 3.6.1).
const dkimPrefix = "v=DKIM1; k=rsa; p="
