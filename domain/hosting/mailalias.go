package hosting

import (
	"slices"
	"strings"
	"time"

	"hostpanel/domain/field"
)

var mailAliases = Kind{
	Name: "mail_alias", Class: "MailAlias", Label: "mail alias", Collection: "mail-aliases",
	EngineID: "hosting_alias_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "mail alias", "es": "alias de correo"},
	Plurals: map[string]string{"en": "Mail aliases", "es": "Alias de correo"},
	Shown: words("id tenant tenant_name mail_domain mail_domain_name source email destination destinations " +
		"alias_type hosting_alias_id is_active " +
		"sync_status sync_error created_at updated_at"),
	Sets: [][]string{{"mail_domain", "source"}}, Address: "source", Rival: "A mailbox with this address already exists.",
	Refs:     []Reference{{Field: "mail_domain", Kind: "mail_domain", Parent: true}},
	Personal: []string{"source", "email", "destination"},
	Filters:  []string{"mail_domain", "email"}, Search: []string{"email", "destination"}, Called: "email",
	NamedBy: []string{"email"}, Shape: shapeAlias, Told: []string{"alias_type"}, Quota: "mail_aliases", Verbs: All,
	Writers: Member, New: spec[MailAlias],
}

// A MailAlias sends on what arrives at an address, or at all addresses of a
// domain that there are not.
type MailAlias struct {
	MailDomain     int64
	MailDomainName string
	Source         string // what stands before the @; "*" is everything else
	Email          string // "info@example.com", "@example.com"
	Destinations   []string
	IsActive       bool
}

const catchAll = "*"

// shapeAlias names the destinations as engines do.
func shapeAlias(_ int64, o *EngineObject) { o.Values["destinations"] = o.Values["destination"] }

// Fields are the alias.
func (a *MailAlias) Fields() field.Set {
	return field.Set{
		field.Ref("mail_domain", &a.MailDomain).Required().Once(),
		field.Text("mail_domain_name", &a.MailDomainName).ReadOnly(),
		field.Text("source", &a.Source).Required().Blank().Is(a.source()).Once().
			Doc("What stands before the @, or the address; *, a blank or @domain is everything else."),
		field.Text("email", &a.Email).ReadOnly(),
		field.Joined("destination", &a.Destinations, address).Required().Min(1).Max(50).
			Doc("Addresses, as a list or parted by commas."),
		field.Flag("is_active", &a.IsActive).Default(true),
	}
}

func address(f field.Field) field.Field { return f.Is(field.Email) }

// link leads to the mailbox that is the only destination.
func (a *MailAlias) link() (Link, bool) {
	if len(a.Destinations) != 1 {
		return Link{}, false
	}
	return Link{Kind: mailboxes.Name, Field: "email", Value: strings.ToLower(a.Destinations[0])}, true
}

func (a *MailAlias) derived(_ time.Time, toMailbox bool) field.Set {
	sort := "forward"
	switch {
	case a.Source == catchAll:
		sort = "catchall"
	case len(a.Destinations) == 1 && toMailbox:
		sort = "alias"
	}
	return field.Set{
		field.Texts("destinations", &a.Destinations, nil).ReadOnly(),
		field.Text("alias_type", &sort).Among("catchall", "alias", "forward").ReadOnly(),
	}
}

// source is in lower case and, once the domain is known, without it.
func (a *MailAlias) source() field.Rule {
	return field.Rule{
		Tidy:  func(s string) string { return sourceIn(s, a.MailDomainName) },
		Holds: func(string) bool { return true }, // what it may be depends on the domain
	}
}

// sourceIn is a source without its own domain.
func sourceIn(s, domain string) string {
	s = strings.ToLower(s)
	at := strings.LastIndexByte(s, '@')
	if domain != "" && at >= 0 && field.Domain.Tidy(s[at+1:]) == domain {
		s = s[:at]
	}
	if s == "" && (domain != "" || at < 0) {
		return catchAll
	}
	return s
}

func (a *MailAlias) complete(p Place) {
	if p.New() {
		a.MailDomainName = text(p.Parent, "domain")
		a.Source = sourceIn(a.Source, a.MailDomainName)
		a.Email = strings.TrimPrefix(a.Source, catchAll) + "@" + a.MailDomainName
	}
	a.Destinations = unique(a.Destinations)
}

// normal sorts the destinations, in lower case.
func (a *MailAlias) normal() {
	for i, one := range a.Destinations {
		a.Destinations[i] = strings.ToLower(one)
	}
	slices.Sort(a.Destinations)
}

// unique leaves out what is there already, in whatever case.
func unique(all []string) (once []string) {
	for _, one := range all {
		if !slices.ContainsFunc(once, func(s string) bool { return strings.EqualFold(s, one) }) {
			once = append(once, one)
		}
	}
	return once
}

func (a *MailAlias) check(p Place, wrong *field.Errors) {
	if p.New() && !wrong.Has("source") {
		a.checkSource(wrong)
	}
	if wrong.Has("destination") {
		return
	}
	if a.Source == catchAll && len(a.Destinations) > 1 {
		wrong.Add("destination", "Ensure this field has no more than 1 elements.")
	}
	if slices.ContainsFunc(a.Destinations, func(s string) bool { return strings.EqualFold(s, a.Email) }) {
		wrong.Add("destination", "The destination contains the alias itself.")
	}
}

func (a *MailAlias) checkSource(wrong *field.Errors) {
	switch {
	case a.Source == catchAll:
	case strings.Contains(a.Source, "@"):
		wrong.Add("source", field.Email.Message)
	case !isLocalPart(a.Source):
		wrong.Add("source", localPart.Message)
	}
}
