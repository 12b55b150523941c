package sandbox

import (
	"hostpanel/domain/hosting"
)

func init() { rules["proxy"] = rule{check: proxy, goesWith: "site", renames: true} }

func proxy(o hosting.EngineObject) error {
	return need(isDomain(o.Name) && text(o, "upstream") != "", "a proxy has a domain, and somewhere to pass on to")
}
