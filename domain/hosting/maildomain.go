package hosting

import "hostpanel/domain/field"

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
