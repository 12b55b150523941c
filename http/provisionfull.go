package http

import (
	"strconv"
	"strings"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A provision asks for a site with what goes with it: all of it, or none. What
// is there already stays as it is, so that a repeat makes only what is missing
// (docs/hosting.md, "A site with everything").
type provision struct {
	owner  *wish // of no kind's fields but the tenant: whose all of it is
	domain string
	ip     string
	asked  map[string]*bool // by the name of the step
	pieces []*piece
}

func newProvision() field.Record {
	kind, _ := hosting.KindNamed("site")
	p := &provision{owner: &wish{kind: kind, spec: kind.New()}, asked: map[string]*bool{}}
	for _, s := range steps {
		p.asked[s.name] = new(bool)
	}
	*p.asked[siteStep] = true
	return p
}

// Fields are the request.
func (p *provision) Fields() field.Set {
	set := append(field.Set{}, p.owner.Fields().Only("tenant")...)
	set = append(set, field.Text("domain", &p.domain).Required().Is(field.Domain))
	for _, s := range steps[1:] {
		set = append(set, field.Flag("create_"+s.name, p.asked[s.name]).Default(false).Doc(s.about))
	}
	return append(set, field.Text("ip_address", &p.ip).Default("*").Is(field.IPOrAny).Doc("Of the site, and of its names in the zone."))
}

// A demand is one record that a step asks for, as a caller could; its reference
// to what it is a part of is filled in. The secret is a field that is made up.
type demand struct {
	kind, secret string
	fields       map[string]any
}

const siteStep = "site"

// steps are what may go with a site, in the order in which an answer tells of
// them.
var steps = []struct {
	name, about string
	demands     func(*provision) []demand
}{
	{siteStep, "", func(p *provision) []demand {
		return []demand{{kind: "site", fields: map[string]any{"domain": p.domain, "ip_address": p.ip}}}
	}},
	{"dns", "A zone, with names for the site where it has an address, and for its mail.", zoneOf},
	{"mail", "A mail domain.", func(p *provision) []demand {
		return []demand{{kind: "mail_domain", fields: map[string]any{"domain": p.domain}}}
	}},
	{"ftp", "An FTP account, with a password that is made up.", func(p *provision) []demand {
		return []demand{{kind: "ftp_account", secret: "password", fields: map[string]any{"username": p.login(64)}}}
	}},
	{"db", "A database, with a password that is made up.", func(p *provision) []demand {
		name, user := strings.ReplaceAll(p.login(64), "-", "_"), strings.ReplaceAll(p.login(32), "-", "_")
		return []demand{{kind: "database", secret: "db_password", fields: map[string]any{"name": name, "db_user": user, "site": p.site()}}}
	}},
	{"proxy", "A proxy that takes the calls for the domain and passes them on to the web server.", func(p *provision) []demand {
		return []demand{{kind: "proxy", fields: map[string]any{"domain": p.domain, "upstream": hosting.UpstreamOf(p.ip)}}}
	}},
}

// zoneOf is the zone, with addresses of the site and its www where it has one,
// and with what mail needs.
func zoneOf(p *provision) []demand {
	all := []demand{{kind: "dns_zone", fields: map[string]any{"origin": p.domain + "."}}}
	in := func(sort, name, data string) {
		all = append(all, demand{kind: "dns_record", fields: map[string]any{"record_type": sort, "name": name, "data": data}})
	}
	if p.ip != "*" {
		sort := dns.A
		if strings.Contains(p.ip, ":") {
			sort = dns.AAAA
		}
		in(sort, dns.Apex, p.ip)
		in(sort, "www", p.ip)
	}
	if *p.asked["mail"] {
		in(dns.MX, dns.Apex, p.domain+".")
		in(dns.TXT, dns.Apex, spf+" a mx ~all")
	}
	return all
}

// spf begins the text that says who may send mail from a domain. It has only
// one of them.
const spf = "v=spf1"

// site is the number of the site, which is the first of the pieces.
func (p *provision) site() int64 { return p.pieces[0].row.ID }

// login is the name of whoever works on the site: its first label and its
// number.
func (p *provision) login(most int) string {
	label, _, _ := strings.Cut(p.domain, ".")
	number := "_" + strconv.FormatInt(p.site(), 10)
	return label[:min(len(label), most-len(number))] + number
}

// A piece is one of the records: there already, or to be made.
type piece struct {
	*collection
	*wish
	step     string
	isNew    bool
	password string // that was made up; blank: none
}

// of are the pieces of a step.
func (p *provision) of(step string) (pieces []*piece) {
	for _, one := range p.pieces {
		if one.step == step {
			pieces = append(pieces, one)
		}
	}
	return pieces
}

// first is the first piece of a kind; nil: there is none.
func (p *provision) first(kind string) *piece {
	for _, one := range p.pieces {
		if one.wish.kind.Name == kind {
			return one
		}
	}
	return nil
}
