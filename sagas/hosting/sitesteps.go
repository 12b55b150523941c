package hosting

import (
	"context"
	"strconv"
	"strings"

	"hostpanel/domain/dns"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// A demand is one record that a step of a site order asks for, as a caller
// could; its reference to what it is a part of is filled in.
type demand struct {
	kind   string
	secret string // a field that is generated
	fields map[string]any
}

// demands are the records of each step.
var demands = map[string]func(*hosting.SiteOrder) []demand{
	hosting.SiteStep: func(o *hosting.SiteOrder) []demand {
		return []demand{{kind: "site", fields: map[string]any{"domain": o.Domain, "ip_address": o.IP}}}
	},
	hosting.DNSStep: zoneOf,
	hosting.MailStep: func(o *hosting.SiteOrder) []demand {
		return []demand{{kind: "mail_domain", fields: map[string]any{"domain": o.Domain}}}
	},
	hosting.FTPStep: func(o *hosting.SiteOrder) []demand {
		return []demand{{kind: "ftp_account", secret: "password", fields: map[string]any{"username": login(o, 64)}}}
	},
	hosting.DatabaseStep: func(o *hosting.SiteOrder) []demand {
		name, user := strings.ReplaceAll(login(o, 64), "-", "_"), strings.ReplaceAll(login(o, 32), "-", "_")
		return []demand{{kind: "database", secret: "db_password", fields: map[string]any{"name": name, "db_user": user, "site": o.Site()}}}
	},
	hosting.ProxyStep: func(o *hosting.SiteOrder) []demand {
		return []demand{{kind: "proxy", fields: map[string]any{"domain": o.Domain, "upstream": hosting.UpstreamOf(o.IP)}}}
	},
}

// zoneOf is the zone, with the addresses of the site and its www, and with what mail needs.
func zoneOf(o *hosting.SiteOrder) []demand {
	all := []demand{{kind: "dns_zone", fields: map[string]any{"origin": o.Domain + "."}}}
	in := func(sort, name, data string) {
		all = append(all, demand{kind: "dns_record", fields: map[string]any{"record_type": sort, "name": name, "data": data}})
	}
	for _, address := range o.Addresses() {
		sort := dns.A
		if strings.Contains(address, ":") {
			sort = dns.AAAA
		}
		in(sort, dns.Apex, address)
		in(sort, "www", address)
	}
	if o.Asked[hosting.MailStep] {
		in(dns.MX, dns.Apex, o.Domain+".")
		in(dns.TXT, dns.Apex, dns.SPF+" a mx ~all")
	}
	return all
}

// login is the name of an account for the site: its first label and its number.
func login(o *hosting.SiteOrder, most int) string {
	label, _, _ := strings.Cut(o.Domain, ".")
	number := "_" + strconv.FormatInt(o.Site(), 10)
	return label[:min(len(label), most-len(number))] + number
}

// there is the tenant's record that a demand asks for; nil: there is none. A
// name in a zone that answers in its own way already is left alone.
func (s *Service) there(ctx context.Context, kind hosting.Kind, tenant int64, wanted demand) (*projections.Resource, error) {
	l := projections.Listing{Filters: []projections.Filter{{Field: "tenant", Op: "=", Value: tenant}}, Limit: dns.MaxRecords}
	for _, name := range kind.Key() {
		l.Filters = append(l.Filters, projections.Filter{Field: name, Op: "=", Value: wanted.fields[name]})
	}
	found, err := s.system().Hosting().OfKind(ctx, kind, l)
	if err != nil {
		return nil, err
	}
	for _, row := range found.Rows {
		spec := kind.New()
		if err := row.Load(spec); err != nil {
			return nil, err
		}
		if hosting.Serves(spec, wanted.fields) {
			return &row, nil
		}
	}
	return nil, nil
}
