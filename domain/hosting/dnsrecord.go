package hosting

import (
	"slices"
	"strings"

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

// recordTypes are the types of records, each with the rule of its data.
var recordTypes = []struct {
	name string
	data field.Rule
}{
	{"A", ipv4Data},
	{"AAAA", ipv6Data},
	{"CNAME", hostData},
	{"MX", hostData},
	{"TXT", textData},
	{"NS", hostData},
	{"SRV", serviceData},
	{"CAA", authorityData},
	{"PTR", hostData},
}

func typeNames() []string {
	names := make([]string, len(recordTypes))
	for i, t := range recordTypes {
		names[i] = t.name
	}
	return names
}

// Fields are the record.
func (r *DNSRecord) Fields() field.Set {
	return field.Set{
		field.Ref("zone", &r.Zone).Required().Once(),
		field.Text("zone_origin", &r.ZoneOrigin).ReadOnly(),
		field.Text("record_type", &r.Type).Required().Among(typeNames()...),
		field.Text("name", &r.Name).Required().Is(recordName).Doc("Relative to the zone; @ is the zone itself."),
		field.Text("data", &r.Data).Required().Lines().Max(4096),
		field.Int("priority", &r.Priority).Between(0, 65535).Doc("10 for MX and 0 for other types when absent."),
		ttl(&r.TTL).Doc("Seconds; the zone's when absent."),
		field.Flag("is_active", &r.IsActive).Default(true),
	}
}

// recordName is a name in a zone, or a full one with or without its final dot,
// which is shortened once the zone is known.
var recordName = field.Rule{
	Max: field.FullName.Max, Message: field.DNSName.Message,
	Tidy: func(s string) string {
		name, full := strings.CutSuffix(s, ".")
		if name = field.DNSName.Tidy(name); full {
			name += "."
		}
		return name
	},
	Holds: func(s string) bool { return s != "@." && field.DNSName.Holds(strings.TrimSuffix(s, ".")) },
}

func (r *DNSRecord) complete(p Place) {
	if p.New() {
		r.ZoneOrigin = text(p.Parent, "origin")
	}
	r.Name = shortened(r.Name, r.ZoneOrigin)
	if r.TTL == 0 && !p.Sent.Has("ttl") {
		r.TTL = number(p.Parent, "ttl")
	}
	if p.New() && !p.Sent.Has("priority") && r.Type == "MX" {
		r.Priority = 10
	}
}

// shortened is a name without the origin of its zone.
func shortened(name, origin string) string {
	if origin == "" {
		return name
	}
	full := strings.TrimSuffix(name, ".") + "."
	if full == origin {
		return "@"
	}
	if short, below := strings.CutSuffix(full, "."+origin); below {
		return short
	}
	return name
}

const (
	cnameAlone = "A CNAME record cannot coexist with other records at the same name."
	nameMax    = 254 // of a full name, with the final dot
)

func (r *DNSRecord) check(p Place, wrong *field.Errors) {
	if full := r.Name + "." + r.ZoneOrigin; !wrong.Has("name") && (strings.HasSuffix(r.Name, ".") || r.Name != "@" && len(full) > nameMax) {
		wrong.Add("name", recordName.Message) // of another zone, or too long in this one
	}
	if !wrong.Has("data") && !wrong.Has("record_type") {
		r.checkData(wrong)
	}
	if r.Type == "CNAME" && (r.Name == "@" || len(p.Beside) > 0) || slices.Contains(p.Beside, "CNAME") {
		wrong.Add(field.NonField, cnameAlone)
	}
}

func (r *DNSRecord) checkData(wrong *field.Errors) {
	for _, t := range recordTypes {
		if t.name == r.Type && !t.data.Holds(r.Data) && r.Data != "" {
			wrong.Add("data", t.data.Message)
		}
	}
}
