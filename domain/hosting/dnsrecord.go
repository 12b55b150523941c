package hosting

import (
	"cmp"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
)

var dnsRecords = Kind{
	Name: "dns_record", Class: "DNSRecord", Label: "dns record", Collection: "dns-records", EngineID: "hosting_record_id",
	Nouns:   map[string]string{"en": "DNS record", "es": "registro DNS"},
	Plurals: map[string]string{"en": "DNS records", "es": "Registros DNS"},
	Shown: words("id zone zone_origin record_type name data priority ttl hosting_record_id is_active " +
		"sync_status sync_error created_at updated_at"),
	Sets:    [][]string{{"zone", "record_type", "name", "data"}},
	Refs:    []Reference{{Field: "zone", Kind: "dns_zone", Parent: true}},
	Filters: []string{"zone", "record_type", "name"}, Search: []string{"name", "data"}, Called: "name", Within: "records", Oldest: true,
	NamedBy: []string{"zone", "record_type", "name", "priority", "data"}, EngineName: nameOfRecord,
	Most: dns.MaxRecords, Verbs: All, Writers: Member, New: spec[DNSRecord],
}

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
	was := p.Before
	isOther := p.New() || text(was, "record_type") != r.Type || text(was, "name") != r.Name || text(was, "data") != r.Data
	if isOther && len(*wrong) == 0 {
		wrong.Join(cmp.Or(dns.CheckUse(r.Type, r.Name, r.Data, r.ZoneOrigin), r.togetherWith(p.Beside)))
	}
	types, repeated := r.compare(p.Beside)
	wrong.Join(dns.CheckBeside(r.Type, r.Name, types...))
	if len(*wrong) == 0 && repeated {
		wrong.Join(dnsRecords.NotUnique(dnsRecords.Sets[0]))
	}
}

// normal writes the name in full and the data as engines keep it.
func (r *DNSRecord) normal() {
	r.Name, r.Data = dns.Full(r.Name, r.ZoneOrigin), dns.Normal(r.Type, r.Data, r.ZoneOrigin)
}

// near are the records of the zone that have the same name.
func (r *DNSRecord) near(int64) []Query {
	return []Query{{dnsRecords.Name, map[string]any{"zone": r.Zone, "name": r.Name}}}
}

// compare tells the types of the other records of the same name, and whether
// one of them means the same, however it is written. An engine could not tell
// such a record from this one.
func (r *DNSRecord) compare(others []field.Values) (types []string, repeated bool) {
	normal := dns.Normal(r.Type, r.Data, r.ZoneOrigin)
	for _, other := range others {
		sort := text(other, "record_type")
		types = append(types, sort)
		repeated = repeated || sort == r.Type && dns.Normal(sort, text(other, "data"), r.ZoneOrigin) == normal
	}
	return types, repeated
}

// togetherWith refuses what breaks another record of the same name and type.
func (r *DNSRecord) togetherWith(others []field.Values) error {
	for _, other := range others {
		if text(other, "record_type") != r.Type {
			continue
		}
		data := dns.Normal(r.Type, text(other, "data"), r.ZoneOrigin)
		if err := dns.CheckTogether(r.Type, dns.Normal(r.Type, r.Data, r.ZoneOrigin), data); err != nil {
			return err
		}
	}
	return nil
}

// serves accepts a record of the wanted type, and a CNAME, beside which nothing
// else may stand. Of texts it accepts only a sender policy.
func (r *DNSRecord) serves(wanted map[string]any) bool {
	if r.Type == dns.TXT && wanted["record_type"] == dns.TXT {
		return dns.IsPolicy(r.Data)
	}
	return r.Type == dns.CNAME || r.Type == wanted["record_type"]
}

// nameOfRecord is a record's key at the engine. Without the zone's values the
// record's own origin counts.
func nameOfRecord(spec, parent field.Values) string {
	origin, sort := text(parent, "origin"), text(spec, "record_type")
	if origin == "" {
		origin = text(spec, "zone_origin")
	}
	return RecordName(RecordKey{
		Origin: origin, Name: dns.Full(text(spec, "name"), origin), Type: sort,
		Priority: number(spec, "priority"), Data: dns.Normal(sort, text(spec, "data"), origin),
	})
}
