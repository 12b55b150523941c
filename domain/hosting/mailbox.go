package hosting

import (
	"regexp"
	"strings"

	"hostpanel/domain/field"
)

var mailboxes = Kind{
	Name: "mailbox", Class: "Mailbox", Label: "mailbox", Collection: "mailboxes", EngineID: "hosting_mailbox_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "mailbox", "es": "buzón"},
	Plurals: map[string]string{"en": "Mailboxes", "es": "Buzones"},
	Shown: words("id tenant tenant_name mail_domain mail_domain_name email local_part name hosting_mailbox_id quota_mb " +
		"imap_enabled pop3_enabled smtp_enabled is_active sync_status sync_error created_at updated_at"),
	Sets: [][]string{{"mail_domain", "local_part"}}, Address: "local_part", Rival: "An alias with this address already exists.",
	Refs:     []Reference{{Field: "mail_domain", Kind: "mail_domain", Parent: true}},
	Personal: []string{"email", "local_part", "name"},
	Filters:  []string{"mail_domain", "email"}, Search: []string{"email", "name"}, Called: "email",
	NamedBy: []string{"email"}, Quota: "mailboxes", Plan: "quota_mailboxes", Verbs: All, Writers: Member, New: spec[Mailbox],
}

// A Mailbox receives the mail of one address.
type Mailbox struct {
	MailDomain       int64
	MailDomainName   string
	Email            string
	LocalPart        string
	Password         string
	Name             string
	QuotaMB          int64
	IMAP, POP3, SMTP bool
	IsActive         bool
}

// Fields are the mailbox.
func (m *Mailbox) Fields() field.Set {
	return field.Set{
		field.Ref("mail_domain", &m.MailDomain).Required().Once(),
		field.Text("mail_domain_name", &m.MailDomainName).ReadOnly(),
		field.Text("email", &m.Email).ReadOnly(),
		field.Text("local_part", &m.LocalPart).Required().Is(localPart).Once(),
		field.Password("password", &m.Password).Required(),
		field.Text("name", &m.Name).Is(field.Plain).Default(""),
		quotaMB(&m.QuotaMB, 1024),
		field.Flag("imap_enabled", &m.IMAP).Default(true),
		field.Flag("pop3_enabled", &m.POP3).Default(true),
		field.Flag("smtp_enabled", &m.SMTP).Default(true),
		field.Flag("is_active", &m.IsActive).Default(true),
	}
}

// localPart is the part of a mailbox address before the @. It has no "+", which
// separates sub-addresses.
var localPart = field.Rule{
	Message: field.Username.Message, Tidy: strings.ToLower, Holds: isLocalPart,
}

var localCharacters = regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]{0,63}$`).MatchString

func isLocalPart(s string) bool {
	return localCharacters(s) && !strings.Contains(s, "..") && !strings.HasSuffix(s, ".")
}

func (m *Mailbox) complete(p Place) {
	if p.New() {
		m.MailDomainName = text(p.Parent, "domain")
		m.Email = m.LocalPart + "@" + m.MailDomainName
	}
	completeQuota(&m.QuotaMB, p)
}

func (m *Mailbox) check(p Place, wrong *field.Errors) { checkQuota(m.QuotaMB, p, wrong) }
