package sandbox

import (
	"slices"
	"strings"

	"hostpanel/domain/hosting"
)

// The engine's own kind: an installation of a CMS in a directory of a site.
func init() {
	rules["cms"] = rule{
		check: installation, under: "site", fits: below, goesWith: "site", secret: "admin_password",
		taken: "docroot_not_empty",
	}
}

var systems = []string{"wordpress", "joomla", "drupal"}

func installation(o hosting.EngineObject) error {
	return need(slices.Contains(systems, text(o, "cms")), "not a system that can be installed")
}

// below tells whether an installation stands in its site: "example.com/blog".
func below(o, site hosting.EngineObject) bool { return strings.HasPrefix(o.Name+"/", site.Name+"/") }
