package projections

import (
	"context"

	"hostpanel/domain/dns"
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
		On(nextSerial, func(at eventstore.RecordedEvent, _ hosting.Requested) []any { return in(zoneKind.Name, at) }),
		On(nextSerial, func(at eventstore.RecordedEvent, _ hosting.Changed) []any { return in(zoneKind.Name, at) }),
		On(takeName, func(at eventstore.RecordedEvent, _ hosting.Requested) []any { return in(recordKind.Name, at) }),
		On(takeName, func(at eventstore.RecordedEvent, e hosting.Changed) []any { return renamed(at, e) }),
		On(nextSerialOfZone, func(at eventstore.RecordedEvent, _ hosting.Requested) []any { return in(recordKind.Name, at) }),
		On(nextSerialOfZone, func(at eventstore.RecordedEvent, _ hosting.Changed) []any { return in(recordKind.Name, at) }),
		On(nextSerialOfZone, func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) []any { return in(recordKind.Name, at) }),
		On(leaveName, func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) []any { return in(recordKind.Name, at) }),
		On(cnameInCompany, func(at eventstore.RecordedEvent, _ hosting.Requested) []any { return in(recordKind.Name, at) }).refusing(alone).Now(),
		On(cnameInCompany, func(at eventstore.RecordedEvent, e hosting.Changed) []any { return renamed(at, e) }).refusing(alone).Now(),
		On(crowded, func(at eventstore.RecordedEvent, _ hosting.Requested) []any {
			return in(recordKind.Name, at, recordKind.Most, recordKind.Counted())
		}).
			refusing(overLimits()).Now(),
	}
}

// in are the arguments of a statement about one kind: the number of the
// resource, and more from $2 on.
func in(kind string, at eventstore.RecordedEvent, more ...any) []any {
	if at.Stream.Category != kind {
		return nil
	}
	return append([]any{at.Stream.ID}, more...)
}

func renamed(at eventstore.RecordedEvent, e hosting.Changed) []any {
	if v := e.Values(); v["record_type"] == nil && v["name"] == nil {
		return nil
	}
	return in(recordKind.Name, at)
}

// What is written to a zone gives it a new serial. A zone that goes needs none
// for each of its records.
var (
	nextSerial = `insert into zone_serials (zone, serial) select $1::bigint, ` + firstSerial + countedOn

	nextSerialOfZone = `insert into zone_serials (zone, serial) select zone, ` + firstSerial + `
		from record_names n where record = $1 and exists (select from resources z where z.kind = '` + zoneKind.Name + `' and z.id = n.zone and z.present)` + countedOn

	// Both together are [dns.Serial.Next].
	firstSerial = `to_char(recorded_at() at time zone 'UTC', 'YYYYMMDD')::bigint * 100 + 1`
	countedOn   = ` on conflict (zone) do update set serial = case
		when zone_serials.serial / 100 < excluded.serial / 100 then excluded.serial else (zone_serials.serial + 1) % 4294967296 end`
)

var (
	takeName = `
		insert into record_names (record, zone, name, cname)
		select id, (spec ->> 'zone')::bigint, spec ->> 'name', spec ->> 'record_type' = 'CNAME' from resources where kind = '` + recordKind.Name + `' and id = $1
		on conflict (record) do update set name = excluded.name, cname = excluded.cname`

	leaveName = `delete from record_names where record = $1`

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
func (s ResourceReader) Zone(ctx context.Context, id int64, servers []string) (z dns.Zone, err error) {
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

func (s ResourceReader) zoneSerial(ctx context.Context, zone int64) (dns.Serial, error) {
	w := s.public()
	w.and("zone = ?", zone)
	serial, err := value[int64](ctx, s, `select serial from zone_serials`, w, "")
	return dns.Serial(serial), err //nolint:gosec // of 32 bits
}

func (s ResourceReader) zoneRecords(ctx context.Context, zone int64) (records []dns.Record, err error) {
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
