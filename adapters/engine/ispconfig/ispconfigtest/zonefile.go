package ispconfigtest

import (
	"fmt"
	"strings"
)

// Zone is the file that the engine's BIND gets for a zone: each record that is on,
// in the order of its number, its data as it is stored. Texts stand between quotes,
// and those of more than 255 bytes are cut there, whatever the cut goes through. ""
// means that there is no file, because the zone is missing or has no records.
func (e *Engine) Zone(origin string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	found, _ := e.tables["dns_soa"].match(object{{"origin", origin}})
	if len(found) != 1 {
		return ""
	}
	zone := found[0]
	var b strings.Builder
	fmt.Fprintf(&b, "$TTL        %s\n@       IN      SOA     %s %s (\n", zone.text("ttl"), zone.text("ns"), zone.text("mbox"))
	for _, column := range []string{"serial", "refresh", "retry", "expire"} {
		fmt.Fprintf(&b, "                        %s       ; %s\n", zone.text(column), column)
	}
	fmt.Fprintf(&b, "                        %s )            ; minimum, seconds\n;\n\n", zone.text("minimum"))
	written := 0
	for _, r := range e.tables["dns_rr"].rows {
		if r.text("zone") == zone.text("id") && r.text("active") == "Y" {
			b.WriteString(recordLine(r))
			written++
		}
	}
	if written == 0 {
		return ""
	}
	return b.String()
}

func recordLine(r *record) string {
	name, ttl, data := r.text("name"), r.text("ttl"), r.text("data")
	if name == "" {
		name = "@"
	}
	if ttl == "0" {
		ttl = ""
	}
	switch r.text("type") {
	case "MX", "SRV":
		data = r.text("aux") + " " + data
	case "TXT":
		data = `"` + strings.Join(everyBytes(data, 255), `" "`) + `"`
	}
	return fmt.Sprintf("%s %s      %s         %s\n", name, ttl, r.text("type"), data)
}

func everyBytes(s string, n int) (pieces []string) {
	for len(s) > n {
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return append(pieces, s)
}
