package sandbox

import (
	"strings"

	"hostpanel/domain/hosting"
)

func init() { rules["dns_zone"] = rule{check: zone} }

func zone(o hosting.EngineObject) error {
	return need(isOrigin(o.Name) && strings.HasSuffix(text(o, "ns_primary"), ".") && strings.HasSuffix(text(o, "admin_email"), "."),
		"a zone has a name, a name server and a contact, each with a final dot")
}

func isOrigin(name string) bool {
	bare, dotted := strings.CutSuffix(name, ".")
	return dotted && strings.Contains(bare, ".") && strings.ToLower(bare) == bare && !strings.ContainsAny(bare, "@ ")
}
