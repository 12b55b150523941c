package sandbox

import (
	"regexp"

	"hostpanel/domain/hosting"
)

func init() {
	rules["database"] = rule{check: database, under: "site", loose: true, secret: "db_password", storage: true}
}

var schema = regexp.MustCompile(`^[A-Za-z0-9_]{2,64}$`)

func database(o hosting.EngineObject) error {
	return need(schema.MatchString(o.Name) && schema.MatchString(text(o, "engine_user")), "not the name of a database, or of its user")
}
