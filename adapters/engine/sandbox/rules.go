package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// A rule is what the engine asks of one kind of object, and what becomes of
// it when others go.
type rule struct {
	check    func(hosting.EngineObject) error                       // of an object by itself
	under    string                                                 // the kind that it has to belong to
	loose    bool                                                   // or it belongs to none
	fits     func(o, parent hosting.EngineObject) bool              // its name, in what it belongs to
	secret   string                                                 // what a new one cannot be without
	keeps    []string                                               // what would not last without it
	takes    []string                                               // what is a part of it, and goes with it
	renames  bool                                                   // its name may change
	replaced func(before, after hosting.EngineObject) bool          // a change makes another object of it
	adds     func(o, parent hosting.EngineObject) (observed, error) // what only the engine knows
	taken    string                                                 // the code when there is one of the name; "": name_taken
}

type observed map[string]string

const certificate = "ssl_certificate"

// The kinds of the panel, and two of the engine's own: an installation of a
// CMS in a site's directory, and a proxy before a site.
var rules = map[string]rule{
	"tenant": {check: client, keeps: owned},
	"site": {
		check: site, adds: place, renames: true,
		keeps: []string{"ftp_account", "shell_user"}, takes: []string{certificate, "cms", "proxy"},
	},
	"database":    {check: database, under: "site", loose: true, secret: "db_password"},
	"dns_zone":    {check: zone, keeps: []string{"dns_record"}},
	"dns_record":  {check: record, under: "dns_zone", fits: inZone, renames: true, replaced: anotherType},
	"mail_domain": {check: mailDomain, adds: signing, keeps: []string{"mailbox", "mail_alias"}},
	"mailbox":     {check: mailbox, under: "mail_domain", fits: atDomain, secret: "password"},
	"mail_alias":  {check: alias, under: "mail_domain", fits: atDomain, replaced: anotherSort},
	"ftp_account": {check: ftp, under: "site", secret: "password"},
	"shell_user":  {check: shell, under: "site", adds: home},
	certificate:   {check: ordered, under: "site", fits: ofSite},
	"cms":         {check: installation, under: "site", fits: below, secret: "admin_password", taken: "docroot_not_empty"},
	"proxy":       {check: proxy, renames: true},
}

var owned = []string{"site", "database", "dns_zone", "dns_record", "mail_domain", "mailbox", "mail_alias", "ftp_account", "shell_user", certificate, "cms", "proxy"}

// fieldOf names the field of a part that says what it is a part of.
func fieldOf(kind string) string { return strings.TrimPrefix(kind, "dns_") }

func ruleOf(kind string) (rule, error) {
	r, known := rules[kind]
	if !known {
		return rule{}, domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no %s", kind))
	}
	return r, nil
}

var (
	login    = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	account  = regexp.MustCompile(`^[A-Za-z0-9_.@+-]{1,64}$`)
	system   = regexp.MustCompile(`^(web|client)[0-9]+$`) // the engine names its own users so
	label    = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	schema   = regexp.MustCompile(`^[A-Za-z0-9_]{2,64}$`)
	local    = regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]{0,63}$`)
	dnsTypes = []string{"A", "AAAA", "CNAME", "MX", "TXT", "NS", "SRV", "CAA", "PTR"}
	systems  = []string{"wordpress", "joomla", "drupal"}
)

func client(o hosting.EngineObject) error {
	switch {
	case !login.MatchString(o.Name):
		return errors.New("the login name has characters that are not allowed, or too many")
	case system.MatchString(o.Name):
		return errors.New("the login name collides with a system user")
	case o.Ref == "":
		return errors.New("a client needs a customer number")
	case o.Owner != 0:
		return errors.New("a client has no owner")
	}
	return nil
}

// isDomain wants the stored form of a domain: lower case, punycode, no final dot.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	return len(name) <= 253 && len(labels) >= 2 && !slices.ContainsFunc(labels, func(l string) bool { return !label.MatchString(l) })
}

func isOrigin(name string) bool {
	bare, dotted := strings.CutSuffix(name, ".")
	return dotted && strings.Contains(bare, ".") && strings.ToLower(bare) == bare && !strings.ContainsAny(bare, "@ ")
}

func site(o hosting.EngineObject) error {
	return need(isDomain(o.Name), "not a domain name in lower case and punycode")
}

func database(o hosting.EngineObject) error {
	return need(schema.MatchString(o.Name) && schema.MatchString(text(o, "engine_user")), "not the name of a database, or of its user")
}

func zone(o hosting.EngineObject) error {
	return need(isOrigin(o.Name) && strings.HasSuffix(text(o, "ns_primary"), ".") && strings.HasSuffix(text(o, "admin_email"), "."),
		"a zone has a name, a name server and a contact, each with a final dot")
}

func record(o hosting.EngineObject) error {
	key, ok := hosting.ParseRecordName(o.Name)
	return need(ok && slices.Contains(dnsTypes, key.Type) && strings.HasSuffix(key.Name, ".") && key.Data != "", "not a record that can be published")
}

func inZone(o, zone hosting.EngineObject) bool {
	key, _ := hosting.ParseRecordName(o.Name)
	return key.Origin == zone.Name && (key.Name == zone.Name || strings.HasSuffix(key.Name, "."+zone.Name))
}

func anotherType(before, after hosting.EngineObject) bool {
	was, _ := hosting.ParseRecordName(before.Name)
	is, _ := hosting.ParseRecordName(after.Name)
	return was.Type != is.Type
}

func mailDomain(o hosting.EngineObject) error {
	return need(isDomain(o.Name), "not a domain name in lower case and punycode")
}

func mailbox(o hosting.EngineObject) error {
	before, _, found := strings.Cut(o.Name, "@")
	return need(found && local.MatchString(before), "not an address that can have a mailbox")
}

// alias is an address, or everything else of a domain: "@example.com".
func alias(o hosting.EngineObject) error {
	before, _, found := strings.Cut(o.Name, "@")
	somewhere := len(o.Values["destinations"]) > len(`[]`) || text(o, "destination") != ""
	return need(found && (before == "" || local.MatchString(before)) && somewhere, "not an address, or nowhere to send on to")
}

func atDomain(o, domain hosting.EngineObject) bool { return strings.HasSuffix(o.Name, "@"+domain.Name) }

func anotherSort(before, after hosting.EngineObject) bool {
	return text(before, "alias_type") != text(after, "alias_type")
}

func ftp(o hosting.EngineObject) error {
	directory := text(o, "directory")
	inside := directory == "" || strings.HasPrefix(directory, "/") && !slices.Contains(strings.Split(directory, "/"), "..")
	return need(account.MatchString(o.Name) && inside, "not the name of an account, or not a directory below its site")
}

func shell(o hosting.EngineObject) error {
	taken := slices.Contains([]string{"root", "daemon", "www-data", "nobody"}, o.Name) || system.MatchString(o.Name)
	return need(login.MatchString(o.Name) && !taken && text(o, "shell") != "", "not a name for a shell user, or no shell")
}

func ordered(o hosting.EngineObject) error {
	return need(slices.Contains([]string{"acme", "custom"}, text(o, "cert_type")), "certificates are ordered or brought along")
}

func ofSite(o, site hosting.EngineObject) bool { return o.Name == site.Name }

func installation(o hosting.EngineObject) error {
	return need(slices.Contains(systems, text(o, "cms")), "not a system that can be installed")
}

// below tells whether an installation stands in its site: "example.com/blog".
func below(o, site hosting.EngineObject) bool { return strings.HasPrefix(o.Name+"/", site.Name+"/") }

func proxy(o hosting.EngineObject) error {
	return need(isDomain(o.Name) && text(o, "upstream") != "", "a proxy has a domain, and somewhere to pass on to")
}

func need(holds bool, otherwise string) error {
	if holds {
		return nil
	}
	return errors.New(otherwise)
}

// text is one text among the values; absent and null are "".
func text(o hosting.EngineObject, name string) (s string) {
	_ = json.Unmarshal(o.Values[name], &s)
	return s
}

func flag(o hosting.EngineObject, name string) (is bool) {
	_ = json.Unmarshal(o.Values[name], &is)
	return is
}
