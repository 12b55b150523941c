package hosting

import "hostpanel/domain/field"

var mailDomains = Kind{
	Name: "mail_domain", Class: "MailDomain", Label: "mail domain", Collection: "mail-domains", EngineID: "hosting_mail_domain_id", CanBeDisabled: true,
	Nouns: map[string]string{"en": "mail domain", "es": "dominio de correo"},
	Shown: words("id tenant tenant_name domain hosting_mail_domain_id dkim_enabled dkim_selector dkim_public mailboxes_count aliases_count is_active " +
		"sync_status sync_error created_at updated_at"),
	Counts: []Count{
		{Field: "mailboxes_count", Kind: "mailbox", By: "mail_domain"},
		{Field: "aliases_count", Kind: "mail_alias", By: "mail_domain"},
	},
	Unique: []string{"domain"}, InUse: "The mail domain still has mailboxes.",
	Filters: []string{"domain"}, Search: []string{"domain"}, Called: "domain",
	NamedBy: []string{"domain"}, Quota: "mail_domains", Plan: "quota_domains", Verbs: All, Writers: Member, New: spec[MailDomain],
}

// A MailDomain is a domain that receives mail.
type MailDomain struct {
	Domain       string
	DKIM         bool // mails are signed
	DKIMSelector string
	DKIMPublic   string // empty until the engine has made a key, and while mails are not signed
	IsActive     bool
}

// Fields are the mail domain.
func (d *MailDomain) Fields() field.Set {
	return field.Set{
		field.Text("domain", &d.Domain).Required().Is(field.Domain).Once(),
		field.Flag("dkim_enabled", &d.DKIM).Default(false),
		field.Text("dkim_selector", &d.DKIMSelector).Is(field.Match(`^[a-z0-9]{1,63}$`)).Default("default"),
		field.Text("dkim_public", &d.DKIMPublic).ReadOnly().Doc("What to publish in DNS; blank while mails are not signed."),
		field.Flag("is_active", &d.IsActive).Default(true),
	}
}

func (d *MailDomain) complete(Place) {
	if !d.DKIM {
		d.DKIMPublic = ""
	}
}
