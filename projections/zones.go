package projections

import (
	"context"
	"encoding/json"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// What a zone's records are to each other is decided where they are written: a
// CNAME stands alone at its name, also when two requests come at the same
// time, and every write gives the zone a new serial (docs/hosting.md, "DNS").

// zoneKind and recordKind are the kinds of zones and of the records in them.
var zoneKind, recordKind = func() (zone, record hosting.Kind) {
	for _, kind := range hosting.Kinds {
		if kind.Serial {
			return kind, kind.Children()[0].Kind
		}
	}
	panic("projections: no kind has a serial")
}()

// zonesSQL are the serials, who has which name, and a table that never has a
// row: what is put into it breaks its condition. Names of zones are published,
// so they need no wall, and an index finds them.
const zonesSQL = `
	create table zone_serials (
		zone   bigint primary key,
		serial bigint not null -- unsigned, of 32 bits
	) with (fillfactor = 50);
	create table record_names (
		record bigint primary key,
		zone   bigint not null,
		name   text   not null, -- relative to the zone
		cname  boolean not null
	);
	create index record_names_name on record_names (zone, name);
	create table cname_in_company (zone bigint, constraint cname_in_company check (zone is null))`

// inZones are the handlers of what is written in zones. A name is taken before
// it is looked at who else has it, and left after the serial is counted.
func inZones() []Handler {
	alone := map[string]error{"cname_in_company": dns.CheckBeside(dns.CNAME, dns.Apex)}
	return []Handler{
		On(func(at eventstore.RecordedEvent, _ hosting.Requested) Change { return serialOf(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.Changed) Change { return serialOf(at) }),
		On(takeName),
		On(rename),
		On(func(at eventstore.RecordedEvent, _ hosting.Requested) Change { return serialOfZone(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.Changed) Change { return serialOfZone(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) Change { return serialOfZone(at) }),
		On(func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) Change {
			if at.Stream.Category != recordKind.Name {
				return Change{}
			}
			return remove("record_names", itsRecord(at))
		}),
		Rule(cnameInCompany, func(at eventstore.RecordedEvent, _ hosting.Requested) []any { return ofRecord(at) }).refusing(alone),
		Rule(cnameInCompany, func(at eventstore.RecordedEvent, e hosting.Changed) []any {
			if rename(at, e).verb == 0 {
				return nil
			}
			return ofRecord(at)
		}).refusing(alone),
		Rule(crowded, func(at eventstore.RecordedEvent, _ hosting.Requested) []any {
			return ofRecord(at, recordKind.Most, recordKind.Counted())
		}).refusing(overLimits()),
	}
}

// ofRecord are the arguments of a rule about records: the number of the record, and
// more from $2 on.
func ofRecord(at eventstore.RecordedEvent, more ...any) []any {
	if at.Stream.Category != recordKind.Name {
		return nil
	}
	return append([]any{at.Stream.ID}, more...)
}

func itsRecord(at eventstore.RecordedEvent) Row { return Row{{"record", at.Stream.ID}} }

// Both together are [dns.Serial.Next].
var (
	firstSerial = &function{sql: `to_char(%[1]s at time zone 'UTC', 'YYYYMMDD')::bigint * 100 + 1`, typ: "bigint"}
	nextSerial  = &function{sql: `case when %[1]s / 100 < %[2]s / 100 then %[2]s else (%[1]s + 1) %% 4294967296 end`, typ: "bigint"}
)

// serial gives a zone a new serial.
func serial(zone any) Change {
	return upsert("zone_serials", Row{{"zone", zone}}, Row{{"serial", firstSerial.call(now)}},
		Row{{"serial", nextSerial.call(col("serial"), excluded("serial"))}})
}

func serialOf(at eventstore.RecordedEvent) Change {
	if at.Stream.Category != zoneKind.Name {
		return Change{}
	}
	return serial(at.Stream.ID)
}

// serialOfZone is [serial] of the zone of a record. A zone that goes needs none for
// each of its records.
func serialOfZone(at eventstore.RecordedEvent) Change {
	if at.Stream.Category != recordKind.Name {
		return Change{}
	}
	return serial(of("n", "zone")).using("n", "record_names", itsRecord(at)).
		using("z", "resources", Row{{"kind", word(zoneKind.Name)}, {"id", of("n", "zone")}}).provided(is(of("z", "present"), true))
}

// takeName is what others may not be called beside a new record.
func takeName(at eventstore.RecordedEvent, e hosting.Requested) Change {
	if at.Stream.Category != recordKind.Name {
		return Change{}
	}
	var zone int64
	values := e.Values()
	_ = json.Unmarshal(values["zone"], &zone) // checked where it was requested
	return insert(
		"record_names",
		append(itsRecord(at), Row{{"zone", zone}, {"name", textOf(values, "name")}, {"cname", textOf(values, "record_type") == cname}}...),
	)
}

// rename is what a change of a record's name or type does.
func rename(at eventstore.RecordedEvent, e hosting.Changed) Change {
	values, set := e.Values(), Row{}
	if values["name"] != nil {
		set = append(set, Column{"name", textOf(values, "name")})
	}
	if values["record_type"] != nil {
		set = append(set, Column{"cname", textOf(values, "record_type") == cname})
	}
	if at.Stream.Category != recordKind.Name || len(set) == 0 {
		return Change{}
	}
	return update("record_names", itsRecord(at), set)
}

const cname = "CNAME"

func textOf(values field.Values, name string) (text string) {
	_ = json.Unmarshal(values[name], &text) // checked where it was requested
	return text
}

var (
	// cnameInCompany is [dns.CheckBeside] of the record that was written.
	cnameInCompany = `
		insert into cname_in_company (zone)
		select own.zone from record_names own join record_names other using (zone, name)
		where own.record = $1 and other.record <> own.record and (own.cname or other.cname)
		limit 1`

	crowded = `
		insert into over_quota (quota)
		select $3 from record_names own
		where own.record = $1 and (select count(*) from record_names r where r.zone = own.zone) > $2`
)

// Zone is a DNS zone with the records that are switched on, as it is to be
// published; servers are the installation's, with final dots. What is written
// meanwhile may be in it already, but has a later serial.
func (s HostingReader) Zone(ctx context.Context, id int64, servers []string) (z dns.Zone, err error) {
	row, err := s.Resource(ctx, hosting.Ref{Kind: zoneKind.Name, ID: id})
	if err != nil {
		return z, err
	}
	var spec hosting.DNSZone
	if err := row.Load(&spec); err != nil {
		return z, err
	}
	z = spec.Published(servers)
	if z.Serial, err = s.zoneSerial(ctx, id); err != nil {
		return z, err
	}
	z.Records, err = s.zoneRecords(ctx, id)
	return z, err
}

func (s HostingReader) zoneSerial(ctx context.Context, zone int64) (dns.Serial, error) {
	w := s.caller.public()
	w.and("zone = ?", zone)
	serial, err := value[int64](ctx, s.db, `select serial from zone_serials`, w, "")
	return dns.Serial(serial), err //nolint:gosec // of 32 bits
}

func (s HostingReader) zoneRecords(ctx context.Context, zone int64) (records []dns.Record, err error) {
	found, err := s.OfKind(ctx, recordKind, Listing{
		Filters: []Filter{{Field: "zone", Op: "=", Value: zone}, {Field: "is_active", Op: "=", Value: true}},
		Order:   []Ordering{{Field: "id"}}, Limit: dns.MaxRecords,
	})
	for _, row := range found.Rows {
		var r hosting.DNSRecord
		if err := row.Load(&r); err != nil {
			return nil, err
		}
		records = append(records, r.Published())
	}
	return records, err
}
