package sandbox

import (
	"slices"

	"hostpanel/domain/hosting"
)

func init() { rules["shell_user"] = rule{check: shell, under: "site", adds: home} }

func shell(o hosting.EngineObject) error {
	taken := slices.Contains([]string{"root", "daemon", "www-data", "nobody"}, o.Name) || system.MatchString(o.Name)
	return need(login.MatchString(o.Name) && !taken && text(o, "shell") != "", "not a name for a shell user, or no shell")
}

func home(o, site hosting.EngineObject) (observed, error) {
	return observed{"home_directory": text(hosting.EngineObject{Values: site.Observed}, "document_root") + "/home/" + o.Name}, nil
}
