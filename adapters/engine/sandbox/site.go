package sandbox

import (
	"fmt"

	"hostpanel/domain/hosting"
)

func init() {
	rules["site"] = rule{check: site, adds: place, renames: true, tellsFormer: true, storage: true, traffic: true}
}

func site(o hosting.EngineObject) error {
	return need(isDomain(o.Name), "not a domain name in lower case and punycode")
}

// place is a site's directory, which stays whatever its domain becomes.
func place(o, _ hosting.EngineObject) (observed, error) {
	return observed{
		"document_root": fmt.Sprintf("/var/www/clients/client%d/web%d", o.Owner, o.ID),
		"system_user":   fmt.Sprintf("web%d", o.ID),
		"system_group":  fmt.Sprintf("client%d", o.Owner),
	}, nil
}
