package sandbox

import (
	"strings"

	"hostpanel/domain/hosting"
)

func init() {
	rules["mail_alias"] = rule{check: alias, under: "mail_domain", fits: atDomain, replaced: anotherSort}
}

// alias is an address, or everything else of a domain: "@example.com".
func alias(o hosting.EngineObject) error {
	before, _, found := strings.Cut(o.Name, "@")
	somewhere := len(o.Values["destinations"]) > len(`[]`) || text(o, "destination") != ""
	return need(found && (before == "" || local.MatchString(before)) && somewhere, "not an address, or nowhere to send on to")
}

func anotherSort(before, after hosting.EngineObject) bool {
	return text(before, "alias_type") != text(after, "alias_type")
}
