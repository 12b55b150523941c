package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/hosting"
)

// A record's natural key is everything in it ([hosting.RecordName]), for the
// engine lets equal ones stand side by side.
var records = resource{
	kind: "dns_record", table: "dns_rr", anyName: true, parents: map[string]string{"zone": "zone"}, key: "id", serial: true,
	stems:     []string{"dns_a", "dns_aaaa", "dns_cname", "dns_mx", "dns_txt", "dns_ns", "dns_srv", "dns_caa", "dns_ptr"},
	functions: func(r row) string { return "dns_" + strings.ToLower(r["type"]) },
	on:        func(s Servers) int64 { return s.DNS }, name: recordName,
	turns: func(w *wish) []Turn {
		key, _ := hosting.ParseRecordName(w.Name)
		return []Turn{zoneTurn(key.Origin)}
	},
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		always(given("zone", func(w *wish) any { return w.zone.number("id") })),
		part("name", "name", func(k hosting.RecordKey) any { return k.Name }).alike(sameName),
		part("type", "record_type", func(k hosting.RecordKey) any { return k.Type }),
		part("data", "data", storedData).alike(sameData),
		part("aux", "priority", func(k hosting.RecordKey) any { return k.Priority }),
		changing(number("ttl", "ttl")), changing(flag("active", "is_active")),
	},
	forms: []form{
		{
			field: "name", sent: "in full, with the final dot", stored: "in lower case; may also be relative to the zone",
			refused: "The hosting server does not take this name for a record of this type.",
			travels: nameTravels,
		},
		{
			field: "data",
			sent:  "hosts in full with the final dot; texts with `\"`, `\\` and bytes outside ASCII escaped", stored: "as sent",
			served:  "texts in strings of at most 255 bytes",
			refused: "The hosting server does not take this data for a record of this type.",
			travels: dataTravels,
		},
	},
	replaced: func(w *wish, have row) bool { return keyOf(w).Type != have["type"] },
}

// nameTravels tells whether the engine takes the name of a record of a known type.
func nameTravels(w *wish) bool {
	key := keyOf(w)
	form, known := recordForms[key.Type]
	return !known || form.name.MatchString(key.Name)
}

func dataTravels(w *wish) bool {
	key := keyOf(w)
	if key.Type == dns.TXT {
		return key.Data != "" && len(storedText(key.Data)) <= mostText
	}
	taken := recordForms[key.Type].data
	return taken == nil || taken.MatchString(key.Data)
}

func init() {
	records.habits = habits{find: findRecords, prepare: recordReady, made: published}
	register(&records)
}

func keyOf(w *wish) hosting.RecordKey { key, _ := hosting.ParseRecordName(w.Name); return key }

func part(name, field string, value func(hosting.RecordKey) any) column {
	c := given(name, func(w *wish) any { return value(keyOf(w)) }).from(field)
	return c.shows(field, func(r row) any {
		switch name {
		case "aux":
			return r.number(name)
		case "name":
			return relative(fullName(r["name"], r["origin"]), r["origin"])
		case "data":
			return servedData(r, r["origin"])
		}
		return r[name]
	})
}

// relative is a record's name as the panel has it: within its zone.
func relative(name, origin string) string {
	if name == origin {
		return dns.Apex
	}
	return strings.TrimSuffix(name, "."+origin)
}

// fullName is a row's name as it is served. The engine keeps it relative or full,
// and the apex as "@" or empty.
func fullName(name, origin string) string { return dns.Full(strings.ToLower(name), origin) }

// storedData is a record's data as it is written to its row.
func storedData(k hosting.RecordKey) any {
	if k.Type == dns.TXT {
		return storedText(k.Data)
	}
	return k.Data
}

// servedData is a row's data in the panel's normal form, as it is served.
func servedData(r row, origin string) string {
	data := r["data"]
	switch r["type"] {
	case dns.TXT:
		return servedText(data)
	case dns.CNAME, dns.MX, dns.NS, dns.PTR, dns.SRV:
		if !strings.HasSuffix(data, ".") {
			data += "." + origin // as a name server completes it
		}
	}
	return dns.Normal(r["type"], data, origin)
}

func sameName(w *wish, have row) bool {
	return fullName(have["name"], w.zone["origin"]) == keyOf(w).Name
}

func sameData(w *wish, have row) bool {
	return servedData(have, w.zone["origin"]) == keyOf(w).Data
}

func recordName(r row) string {
	return hosting.RecordName(hosting.RecordKey{
		Origin: r["origin"], Name: fullName(r["name"], r["origin"]), Type: r["type"], Priority: r.number("aux"),
		Data: servedData(r, r["origin"]),
	})
}

var (
	alias = regexp.MustCompile(`^[a-zA-Z0-9.\-_]{1,254}\.$`)
	host  = regexp.MustCompile(`^[a-zA-Z0-9.\-]{1,254}\.$`)
	mx    = regexp.MustCompile(`^(\.|[a-zA-Z0-9.\-]{1,254}\.)$`)
	caa   = regexp.MustCompile(`^(0|128) (issue|issuewild|issuemail|iodef) "[^"]*"$`)
	srv   = regexp.MustCompile(`^[0-9]{1,5} [0-9]{1,5} [a-zA-Z0-9.\-_]{0,63}\.$`)
	label = `[a-zA-Z0-9.\-*]`
)

// mostText is how many bytes of a text's stored form the engine's column takes.
const mostText = 60000

// What the engine takes of each type: names in full, and data in the panel's
// normal form. It checks less, and appends the origin to a target without a final
// dot.
var recordForms = map[string]struct{ name, data *regexp.Regexp }{
	dns.A:     {regexp.MustCompile(`^` + label + `{1,63}\.$`), nil},
	dns.AAAA:  {regexp.MustCompile(`^` + label + `{1,63}\.$`), nil},
	dns.CNAME: {regexp.MustCompile(`^[a-zA-Z0-9.\-*_]{1,254}\.$`), alias},
	dns.MX:    {regexp.MustCompile(`^` + label + `{1,254}\.$`), mx},
	dns.NS:    {regexp.MustCompile(`^[_a-zA-Z0-9.\-]{1,254}\.$`), host},
	dns.TXT:   {regexp.MustCompile(`^(\*\.)?[a-zA-Z0-9.\-_]{1,252}\.$`), nil},
	dns.SRV:   {regexp.MustCompile(`^[a-zA-Z0-9.\-_]{1,254}\.$`), srv},
	dns.CAA:   {regexp.MustCompile(`^[a-zA-Z0-9.\-_*]{1,254}\.$`), caa},
	dns.PTR:   {regexp.MustCompile(`^[a-zA-Z0-9.\-]{1,254}\.$`), host},
}

func recordReady(ctx context.Context, e *Engine, w *wish) error {
	key := keyOf(w)
	if _, known := recordForms[key.Type]; !known {
		return domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no records of type %q", key.Type))
	}
	zone, err := e.api.parent(ctx, &zones, w.Parents["zone"], w.group)
	if err != nil {
		return err
	}
	if zone["origin"] != key.Origin {
		return drifted("dns_zone", zone.number("id"))
	}
	w.zone, w.server = zone, zone.number("server_id")
	return nil
}

// findRecords looks records up within their zone.
func findRecords(ctx context.Context, e *Engine, name string) ([]row, error) {
	key, ok := hosting.ParseRecordName(name)
	if !ok {
		return nil, domain.Fail(domain.Permanent, "invalid", errors.New("no name of a record"))
	}
	found, err := e.api.seek(ctx, &zones, zones.queries(key.Origin, "", e.api.Servers))
	if err != nil {
		return nil, err
	}
	var all []row
	for _, zone := range found {
		if zone["origin"] != key.Origin {
			continue
		}
		in, err := e.api.recordsOf(ctx, zone.number("id"), key.Origin)
		if err != nil {
			return nil, err
		}
		all = append(all, in...)
	}
	return all, nil
}

// published makes sure that no zone has the record's number: a name server
// that reads the engine's tables directly would never serve the record.
func published(ctx context.Context, e *Engine, _ *wish, record int64) error {
	_, collides, err := e.api.get(ctx, &zones, record)
	if err != nil || !collides {
		return err
	}
	return domain.Fail(
		domain.Permanent, "record_ids",
		fmt.Errorf("record %d has the number of a zone: raise the numbers of the engine's records", record),
	)
}

func parseDay(day string) (time.Time, error) { return time.Parse("20060102", day) }
