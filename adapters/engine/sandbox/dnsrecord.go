package sandbox

import (
	"slices"
	"strings"

	"hostpanel/domain/hosting"
)

func init() {
	rules["dns_record"] = rule{check: record, under: "dns_zone", fits: inZone, renames: true, replaced: anotherType}
}

var dnsTypes = []string{"A", "AAAA", "CNAME", "MX", "TXT", "NS", "SRV", "CAA", "PTR"}

func record(o hosting.EngineObject) error {
	key, ok := hosting.ParseRecordName(o.Name)
	return need(
		ok && slices.Contains(dnsTypes, key.Type) && strings.HasSuffix(key.Name, ".") && key.Data != "",
		"not a record that can be published",
	)
}

func inZone(o, zone hosting.EngineObject) bool {
	key, _ := hosting.ParseRecordName(o.Name)
	return key.Origin == zone.Name && (key.Name == zone.Name || strings.HasSuffix(key.Name, "."+zone.Name))
}

func anotherType(before, after hosting.EngineObject) bool {
	was, _ := hosting.ParseRecordName(before.Name)
	is, _ := hosting.ParseRecordName(after.Name)
	return was.Type != is.Type
}
