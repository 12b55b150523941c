package hosting

import (
	"cmp"
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

func address(f field.Field) field.Field { return f.Is(elsewhere) }

// elsewhere is an address beyond the server: mail to root@localhost would stay there.
var elsewhere = func() field.Rule {
	rule := field.Email
	rule.Holds = func(s string) bool {
		labels := strings.Split(s[strings.LastIndexByte(s, '@')+1:], ".")
		return len(labels) > 1 && !slices.Contains([]string{"localhost", "localdomain"}, labels[len(labels)-1]) && field.Email.Holds(s)
	}
	return rule
}()

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
	now := a.Fields().Values()
	led := p.New() || string(now["destination"]) != string(p.Before["destination"])
	if led && slices.ContainsFunc(a.Destinations, func(s string) bool { return isAt(s, p.Engines) }) {
		wrong.Add("destination", "Mail cannot be forwarded to the server itself.")
	}
	if led || string(now["is_active"]) != string(p.Before["is_active"]) {
		if refusal := a.LeadsBack(p.Beside); refusal != "" {
			wrong.Add("destination", refusal)
		}
	}
}

func isAt(address string, hosts []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool { return strings.EqualFold(mailDomainOf(address), "@"+host) })
}

// mailDomainOf is what a catch-all of the address's domain is called: "@example.com".
func mailDomainOf(address string) string {
	return address[max(strings.LastIndexByte(address, '@'), 0):]
}

const (
	maxForwards = 10  // through which mail is followed
	maxTargets  = 200 // that are looked at after each forward
)

// onward are the mailboxes and aliases at the addresses that mail to the alias reaches
// after so many more forwards.
func (a *MailAlias) onward(step int, known []field.Values) []Query {
	if step >= maxForwards || !a.IsActive {
		return nil
	}
	reached, _ := a.follow(step, known)
	if len(reached) == 0 {
		return nil
	}
	takers := slices.Clone(reached)
	for _, at := range reached {
		takers = append(takers, mailDomainOf(at))
	}
	return []Query{
		{mailboxes.Name, map[string]any{mailboxes.Called: reached}},
		{mailAliases.Name, map[string]any{mailAliases.Called: unique(takers)}},
	}
}

// LeadsBack is the refusal of an alias whose mail comes back to it by way of the known mailboxes
// and aliases; "": it does not, or not after few forwards.
func (a *MailAlias) LeadsBack(known []field.Values) (refusal string) {
	if a.IsActive {
		_, refusal = a.follow(maxForwards, known)
	}
	return refusal
}

// follow are the addresses that mail to the alias reaches after its own forward and so many
// others, each once, or why it comes back before. What is named is the alias's own
// destination: the forwards of other tenants are theirs.
func (a *MailAlias) follow(forwards int, known []field.Values) (reached []string, back string) {
	takers, by := takersAmong(known), map[string]string{} // by which destination an address is reached
	next := onwards(by, "", a.Destinations)
	for range forwards {
		reached, next = next, nil
		for _, at := range reached {
			to, taken := takers[at]
			if at == a.Email || !taken && mailDomainOf(at) == a.Email {
				return nil, a.comesBack(at, by[at])
			}
			if !taken {
				to = takers[mailDomainOf(at)]
			}
			next = append(next, onwards(by, by[at], to)...)
		}
		next = next[:min(len(next), maxTargets)]
	}
	return next, ""
}

// comesBack says by which destination mail comes back to an address that the alias takes.
func (a *MailAlias) comesBack(at, destination string) string {
	switch {
	case at != destination:
		return `Mail to "` + destination + `" comes back to this alias.`
	case at == a.Email:
		return "The destination contains the alias itself."
	}
	return `Only this catch-all takes "` + at + `": there is no mailbox or alias of that name.`
}

// takersAmong are where mailboxes and aliases that are switched on send their mail, by their
// addresses: a mailbox keeps it.
func takersAmong(known []field.Values) map[string][]string {
	takers := map[string][]string{}
	for _, values := range known {
		var other MailAlias
		switch {
		case values["source"] == nil:
			takers[text(values, "email")] = nil
		case other.Fields().Load(values) == nil && other.IsActive:
			takers[other.Email] = other.Destinations
		}
	}
	return takers
}

// onwards are the addresses that were not reached before. They are reached by a destination,
// or are one each.
func onwards(by map[string]string, destination string, to []string) (next []string) {
	for _, at := range to {
		at = strings.ToLower(at)
		if _, reached := by[at]; !reached {
			by[at], next = cmp.Or(destination, at), append(next, at)
		}
	}
	return next
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
