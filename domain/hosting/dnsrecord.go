package hosting

import (
	"cmp"
	"slices"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
)

// A DNSRecord is one answer that a zone gives.
type DNSRecord struct {
	Zone       int64
	ZoneOrigin string // "example.com."
	Type       string
	Name       string // relative to the zone; "@" is the zone itself
	Data       string // as sent
	Priority   int64
	TTL        int64
	IsActive   bool
}

// Fields are the record.
func (r *DNSRecord) Fields() field.Set {
	return field.Set{
		field.Ref("zone", &r.Zone).Required().Once(),
		field.Text("zone_origin", &r.ZoneOrigin).ReadOnly(),
		field.Text("record_type", &r.Type).Required().Among(dns.Types...),
		field.Text("name", &r.Name).Required().Is(dns.RecordName).Doc("Relative to the zone; @ is the zone itself."),
		field.Text("data", &r.Data).Required().Lines().Max(dns.MaxData),
		field.Int("priority", &r.Priority).Between(0, 65535).Doc("10 for MX and 0 for other types when absent."),
		ttl(&r.TTL).Doc("Seconds; the zone's when absent."),
		field.Flag("is_active", &r.IsActive).Default(true),
	}
}

// Published is the record as its zone publishes it.
func (r *DNSRecord) Published() dns.Record {
	return dns.Record{Name: r.Name, Type: r.Type, Data: r.Data, Priority: r.Priority, TTL: r.TTL}
}

// complete leaves a name that is outside of the zone as it is; check refuses
// it.
func (r *DNSRecord) complete(p Place) {
	if p.New() {
		r.ZoneOrigin = text(p.Parent, "origin")
	}
	if name, err := dns.Within(r.Name, r.ZoneOrigin); err == nil && r.ZoneOrigin != "" {
		r.Name = name
	}
	if r.TTL == 0 && !p.Sent.Has("ttl") {
		r.TTL = number(p.Parent, "ttl")
	}
	if p.New() && !p.Sent.Has("priority") {
		r.Priority = dns.Priority(r.Type)
	}
}

func (r *DNSRecord) check(p Place, wrong *field.Errors) {
	if r.ZoneOrigin != "" && !wrong.Has("name") {
		_, err := dns.Within(r.Name, r.ZoneOrigin)
		wrong.Join(cmp.Or(err, dns.CheckOwner(r.Type, r.Name, r.ZoneOrigin)))
	}
	if !wrong.Has("data") && !wrong.Has("record_type") {
		wrong.Join(dns.CheckData(r.Type, r.Data, cmp.Or(r.ZoneOrigin, "zone.")))
	}
	types := make([]string, len(p.Beside))
	for i, other := range p.Beside {
		types[i] = other.Type
	}
	wrong.Join(dns.CheckBeside(r.Type, r.Name, types...))
	if len(*wrong) == 0 && slices.ContainsFunc(p.Beside, r.repeats) {
		kind, _ := KindNamed("dns_record")
		wrong.Join(kind.NotUnique(kind.Sets[0]))
	}
}

// repeats tells whether another record of the same name says the same, in
// whatever words. An engine could not keep them apart.
func (r *DNSRecord) repeats(other dns.Record) bool {
	return other.Type == r.Type && dns.Normal(r.Type, other.Data, r.ZoneOrigin) == dns.Normal(r.Type, r.Data, r.ZoneOrigin)
}
