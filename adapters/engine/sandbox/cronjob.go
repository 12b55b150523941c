package sandbox

import (
	"fmt"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

func init() { rules["cron_job"] = rule{check: cronJob, under: "site", fits: inSite, renames: true} }

func cronJob(o hosting.EngineObject) error {
	parts := strings.SplitN(o.Name, " ", 7)
	return need(
		len(parts) == 7 && field.Schedule.Holds(strings.Join(parts[1:6], " ")),
		"not a site, a schedule of five fields and a command",
	)
}

func inSite(o, site hosting.EngineObject) bool {
	return strings.HasPrefix(o.Name, fmt.Sprint(site.ID, " "))
}
