package hosting

import (
	"cmp"
	"strings"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
)

var dnsZones = Kind{
	Name: "dns_zone", Class: "DNSZone", Label: "dns zone", Collection: "dns-zones", EngineID: "hosting_zone_id",
	Nouns:   map[string]string{"en": "DNS zone", "es": "zona DNS"},
	Plurals: map[string]string{"en": "DNS zones", "es": "Zonas DNS"},
	Shown: words("id tenant tenant_name origin hosting_zone_id ns_primary admin_email ttl records_count is_active " +
		"sync_status sync_error created_at updated_at"),
	Counts: []Count{{Field: "records_count", Kind: "dns_record", By: "zone"}},
	Unique: []string{"origin"}, Claims: "origin", Personal: []string{"admin_email"},
	Filters: []string{"origin"}, Search: []string{"origin"}, Called: "origin", Serial: true,
	NamedBy: []string{"origin"}, Quota: "dns_zones", Plan: "quota_domains", Verbs: All, Writers: Member, New: spec[DNSZone],
}

// A DNSZone is a domain as the panel's name servers answer for it.
type DNSZone struct {
	Origin     string // "example.com."
	NSPrimary  string
	AdminEmail string // "hostmaster.example.com."
	TTL        int64
	IsActive   bool
}

const usualTTL = 3600

// Fields are the zone.
func (z *DNSZone) Fields() field.Set {
	return field.Set{
		field.Text("origin", &z.Origin).Required().Is(dns.Origin).Once(),
		field.Text("ns_primary", &z.NSPrimary).Is(dns.Server).Doc("The installation's first name server when absent."),
		field.Text("admin_email", &z.AdminEmail).Is(dns.Contact).Doc("An address, or its form in DNS; hostmaster of the zone when absent."),
		ttl(&z.TTL).Default(usualTTL),
		field.Flag("is_active", &z.IsActive).Default(true),
	}
}

func ttl(at *int64) field.Field { return field.Int("ttl", at).Between(60, 1<<31-1).Doc("Seconds.") }

func (z *DNSZone) complete(p Place) {
	if z.NSPrimary == "" && !p.Sent.Has("ns_primary") && len(p.NameServers) > 0 {
		z.NSPrimary = p.NameServers[0]
	}
	if z.AdminEmail == "" && !p.Sent.Has("admin_email") {
		z.AdminEmail = dns.Hostmaster(z.Origin)
	}
}

func (z *DNSZone) normal() { z.AdminEmail = strings.ToLower(z.AdminEmail) }

// Published is the zone as it is to be published, without its records. Its
// primary serves it, and so do the installation's name servers. The first of
// these stands in for a primary that is blank or no host, the hostmaster for a
// contact that was erased.
func (z *DNSZone) Published(servers []string) dns.Zone {
	primary := z.NSPrimary
	if !dns.Server.Holds(primary) && len(servers) > 0 {
		primary = servers[0]
	}
	all := []string{primary}
	for _, server := range servers {
		if server != primary {
			all = append(all, server)
		}
	}
	return dns.Zone{
		Origin: z.Origin, Primary: primary, Contact: cmp.Or(z.AdminEmail, dns.Hostmaster(z.Origin)), NameServers: all, TTL: z.TTL,
	}
}
