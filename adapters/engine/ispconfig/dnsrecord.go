package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"hostpanel/domain"
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
		part("name", "name", func(k hosting.RecordKey) any { return k.Name }),
		part("type", "record_type", func(k hosting.RecordKey) any { return k.Type }),
		part("data", "data", func(k hosting.RecordKey) any { return k.Data }),
		part("aux", "priority", func(k hosting.RecordKey) any { return k.Priority }),
		changing(number("ttl", "ttl")), changing(flag("active", "is_active")),
	},
	replaced: func(w *wish, have row) bool { return keyOf(w).Type != have["type"] },
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
			return relative(r[name], r["origin"])
		}
		return r[name]
	})
}

// relative is a record's name as the panel has it: within its zone.
func relative(name, origin string) string {
	if name == origin {
		return "@"
	}
	return strings.TrimSuffix(name, "."+origin)
}

func recordName(r row) string {
	return hosting.RecordName(hosting.RecordKey{Origin: r["origin"], Name: r["name"], Type: r["type"], Priority: r.number("aux"), Data: r["data"]})
}

var (
	host  = regexp.MustCompile(`^[a-zA-Z0-9.\-_]{1,254}\.$`)
	caa   = regexp.MustCompile(`^(0|128) (issue|issuewild|iodef) "[^"]*"$`)
	srv   = regexp.MustCompile(`^[0-9]{1,5} [0-9]{1,5} (\.|[a-zA-Z0-9.\-_]{1,254}\.)$`)
	label = `[a-zA-Z0-9.\-*]`
)

// What the engine takes of each type. It checks less, and appends the origin
// to a target without a final dot.
var forms = map[string]struct{ name, data *regexp.Regexp }{
	"A":     {regexp.MustCompile(`^` + label + `{1,64}$`), nil},
	"AAAA":  {regexp.MustCompile(`^` + label + `{1,64}$`), nil},
	"CNAME": {regexp.MustCompile(`^[a-zA-Z0-9.\-*_]{1,255}$`), host},
	"MX":    {regexp.MustCompile(`^` + label + `{1,255}$`), host},
	"NS":    {regexp.MustCompile(`^[_a-zA-Z0-9.\-]{1,255}$`), host},
	"TXT":   {regexp.MustCompile(`^(\*\.)?[a-zA-Z0-9.\-_]{1,255}$`), regexp.MustCompile(`(?s)^.{1,600}$`)},
	"SRV":   {regexp.MustCompile(`^[a-zA-Z0-9.\-_]{1,255}$`), srv},
	"CAA":   {regexp.MustCompile(`^[a-zA-Z0-9.\-_*]{1,255}$`), caa},
	"PTR":   {regexp.MustCompile(`^[a-zA-Z0-9.\-]{1,255}$`), host},
}

func recordReady(ctx context.Context, e *Engine, w *wish) error {
	key, ok := hosting.ParseRecordName(w.Name)
	form, known := forms[key.Type]
	switch {
	case !ok || !known:
		return domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no records of type %q", key.Type))
	case !form.name.MatchString(key.Name) || !strings.HasSuffix(key.Name, "."):
		return domain.Fail(domain.Permanent, "invalid", errors.New("the engine does not take the record's name"))
	case form.data != nil && !form.data.MatchString(key.Data):
		return domain.Fail(domain.Permanent, "invalid", fmt.Errorf("the engine does not take the data of the %s record", key.Type))
	}
	zone, err := e.parent(ctx, &zones, w.Parents["zone"], w.group)
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
	found, err := e.seek(ctx, &zones, zones.queries(key.Origin, "", e.Servers))
	if err != nil {
		return nil, err
	}
	var all []row
	for _, zone := range found {
		if zone["origin"] != key.Origin {
			continue
		}
		in, err := e.recordsOf(ctx, zone.number("id"), key.Origin)
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
	_, collides, err := e.get(ctx, &zones, record)
	if err != nil || !collides {
		return err
	}
	return domain.Fail(domain.Permanent, "record_ids", fmt.Errorf("record %d has the number of a zone: raise the numbers of the engine's records", record))
}

func parseDay(day string) (time.Time, error) { return time.Parse("20060102", day) }
