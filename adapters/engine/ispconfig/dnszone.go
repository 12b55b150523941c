package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/hosting"
)

// A zone's key is its origin with the final dot; without it the engine would
// make a second zone beside the first.
var zones = resource{
	kind: "dns_zone", table: "dns_soa", lower: true, limits: []string{"limit_dns_zone"}, key: "id",
	stems: []string{"dns_zone"}, functions: stem("dns_zone"),
	on: func(s Servers) int64 { return s.DNS }, reads: []string{"serial"}, name: named("origin"),
	queries: func(name, _ string, _ Servers) []query {
		return []query{{"dns_zone", members{{"origin", name}}}}
	},
	turns: func(w *wish) []Turn { return []Turn{zoneTurn(w.Name)} },
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		natural("origin"),
		changing(text("ns", "ns_primary")), given("mbox", func(w *wish) any { return contactOf(w) }).from("admin_email").alike(sameContact).
			shows("admin_email", func(r row) any { return r["mbox"] }),
		fixed("refresh", 7200), fixed("retry", 540), fixed("expire", 604800), fixed("minimum", 3600),
		changing(number("ttl", "ttl")),
		given("serial", func(w *wish) any { return w.today + "01" }),
		changing(flag("active", "is_active")),
		fixed("xfer", ""), fixed("also_notify", ""), fixed("update_acl", ""),
	},
	forms: []form{
		{
			field: "origin", sent: "with the final dot",
			refused: "The hosting server takes no zone with an underscore or a slash in its name.",
			travels: func(w *wish) bool { return origin.MatchString(strings.TrimSuffix(w.Name, ".")) },
		},
		matching("ns_primary", `^[a-zA-Z0-9.\-]{0,255}$`, "The hosting server does not take this name server."),
		{
			field: "admin_email", sent: "as a name in DNS; hostmaster of the zone in place of a blank", stored: "in lower case",
			refused: "The hosting server takes no contact with a dot or a special character before the @.",
			travels: func(w *wish) bool { return contact.MatchString(contactOf(w)) },
		},
	},
}

var (
	// The engine takes a zone with a slash, and then none of its records.
	origin  = regexp.MustCompile(`^[a-zA-Z0-9.\-]{1,255}\.[a-zA-Z0-9\-]{2,63}$`)
	contact = regexp.MustCompile(`^[a-zA-Z0-9.\-_+]{0,254}\.?$`) // the final dot is looked for elsewhere
)

func sameContact(w *wish, have row) bool { return strings.EqualFold(have["mbox"], contactOf(w)) }

// contactOf is who answers for a zone. One that was erased is its hostmaster.
func contactOf(w *wish) string { return either(w.text("admin_email"), dns.Hostmaster(w.Name)) }

func init() {
	zones.habits = habits{
		prepare: zoneReady, made: nameServers, lacks: zoneLacks, parts: zoneParts, change: changeZone,
		keeps: zoneKeeps, leaving: removeNameServers,
	}
	register(&zones)
}

func zoneTurn(origin string) Turn { return Turn{Name: "zone/" + origin} }

func zoneReady(_ context.Context, _ *Engine, w *wish) error {
	for _, name := range []string{w.Name, w.text("ns_primary"), contactOf(w)} {
		if !strings.HasSuffix(name, ".") || strings.Contains(name, "@") || strings.ToLower(name) != name && name == w.Name {
			return domain.Fail(domain.Permanent, "invalid", errors.New("a zone with a name that is not dotted"))
		}
	}
	return nil
}

// raised is the serial after the stored one, as the engine itself counts: a
// date and two digits, of today or later.
func raised(serial, today string) string {
	n, err := strconv.ParseInt(serial, 10, 64)
	first, _ := strconv.ParseInt(today+"01", 10, 64)
	switch {
	case err != nil || n/100 < first/100:
		return today + "01"
	case n%100 == 99:
		return nextDay(strconv.FormatInt(n/100, 10)) + "00"
	}
	return strconv.FormatInt(n+1, 10)
}

// changeZone updates a zone and its serial, lest secondaries miss the change. The
// record of a former primary name server makes room for the new one's.
func changeZone(ctx context.Context, e *Engine, w *wish, have row, params members) error {
	if ns := params.text("ns"); ns != "" {
		if err := nameServers(ctx, e, w, have.number("id")); err != nil {
			return err
		}
		if err := e.dropNameServer(ctx, have, have["ns"], e.api.serversOf(ns)); err != nil {
			return err
		}
	}
	serial := member{"serial", raised(have["serial"], e.api.today())}
	return e.update(ctx, &zones, have, append(params, serial))
}

// nameServers gives a new zone the records of its name servers, without which
// no name server would serve it. They are no records of the panel.
func nameServers(ctx context.Context, e *Engine, w *wish, zone int64) error {
	have, err := e.api.recordsOf(ctx, zone, w.Name)
	if err != nil {
		return err
	}
	for _, server := range e.api.serversOf(w.text("ns_primary")) {
		at := slices.IndexFunc(have, func(r row) bool { return defaultNS(r, w.Name, []string{server}) })
		switch {
		case at >= 0 && have[at].on("active"):
			continue
		case at >= 0:
			if err := e.update(ctx, &records, have[at], members{{"zone", zone}, {"active", yes(true)}}); err != nil {
				return err
			}
			continue
		}
		record := &wish{server: w.server, group: w.group, zone: row{"id": decimal(zone), "origin": w.Name}}
		record.EngineObject = hosting.EngineObject{
			Kind: "dns_record", Owner: w.Owner, Values: values("ttl", w.number("ttl"), "is_active", true),
			Name: hosting.RecordName(hosting.RecordKey{Origin: w.Name, Name: w.Name, Type: "NS", Data: server}),
		}
		made, err := e.add(ctx, &records, record)
		if err != nil {
			return err
		}
		if err := published(ctx, e, record, made); err != nil {
			return err
		}
	}
	return nil
}

// dropNameServer removes the record of a name server that is none of those that
// stay.
func (e *Engine) dropNameServer(ctx context.Context, zone row, name string, stay []string) error {
	if slices.Contains(stay, name) {
		return nil
	}
	_, defaults, err := e.api.ownRecords(ctx, zone)
	for _, r := range defaults {
		if err == nil && r["data"] == name {
			err = e.erase(ctx, &records, r)
		}
	}
	return err
}

// zoneLacks tells whether a zone is without one of its name servers.
func zoneLacks(ctx context.Context, e *Engine, zone row) (bool, error) {
	missing, err := lackingServers(ctx, e, zone)
	return len(missing) > 0, err
}

// lackingServers are the name servers of which a zone has no record that is on.
func lackingServers(ctx context.Context, e *Engine, zone row) (missing []string, err error) {
	_, defaults, err := e.api.ownRecords(ctx, zone)
	if err != nil {
		return nil, err
	}
	for _, server := range e.api.serversOf(zone["ns"]) {
		if !slices.ContainsFunc(defaults, func(r row) bool { return servedData(r, zone["origin"]) == server && r.on("active") }) {
			missing = append(missing, server)
		}
	}
	return missing, nil
}

func zoneParts(ctx context.Context, e *Engine, zone row) (*resource, []row, error) {
	_, defaults, err := e.api.ownRecords(ctx, zone)
	return &records, defaults, err
}

func (c *connection) serversOf(primary string) []string {
	all := []string{primary}
	for _, s := range c.NameServers {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// defaultNS tells whether a record is one that the zone came with.
func defaultNS(r row, origin string, servers []string) bool {
	return r["type"] == dns.NS && fullName(r["name"], origin) == origin && slices.Contains(servers, servedData(r, origin))
}

func (c *connection) ownRecords(ctx context.Context, zone row) (ours, defaults []row, err error) {
	all, err := c.recordsOf(ctx, zone.number("id"), zone["origin"])
	for _, r := range all {
		if defaultNS(r, zone["origin"], c.serversOf(zone["ns"])) {
			defaults = append(defaults, r)
		} else {
			ours = append(ours, r)
		}
	}
	return ours, defaults, err
}

func zoneKeeps(ctx context.Context, e *Engine, zone row) (string, error) {
	ours, _, err := e.api.ownRecords(ctx, zone)
	if err != nil || len(ours) == 0 {
		return "", err
	}
	return "dns_record", nil
}

func removeNameServers(ctx context.Context, e *Engine, zone row) error {
	_, defaults, err := e.api.ownRecords(ctx, zone)
	for _, r := range defaults {
		if err == nil {
			err = e.erase(ctx, &records, r)
		}
	}
	return err
}

// recordsOf lists the records of a zone, all types in one call.
func (c *connection) recordsOf(ctx context.Context, zone int64, origin string) ([]row, error) {
	found, err := c.rows(ctx, "dns_rr_get_all_by_zone", members{{"zone_id", zone}}, records.picks())
	for _, r := range found {
		r["origin"] = origin
	}
	return found, err
}

func (c *connection) today() string { return c.Now().UTC().Format("20060102") }

func nextDay(day string) string {
	t, err := parseDay(day)
	if err != nil {
		return day // no date: the engine counts on as well
	}
	return t.AddDate(0, 0, 1).Format("20060102")
}

func drifted(kind string, id int64) error {
	return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s %d at the engine is not the one that the panel knows", kind, id))
}
