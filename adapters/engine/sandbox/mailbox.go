package sandbox

import (
	"regexp"
	"strings"

	"hostpanel/domain/hosting"
)

func init() {
	rules["mailbox"] = rule{check: mailbox, under: "mail_domain", fits: atDomain, secret: "password", storage: true}
}

var local = regexp.MustCompile(`^[a-z0-9_][a-z0-9._-]{0,63}$`)

func mailbox(o hosting.EngineObject) error {
	before, _, found := strings.Cut(o.Name, "@")
	return need(found && local.MatchString(before), "not an address that can have a mailbox")
}

func atDomain(o, domain hosting.EngineObject) bool { return strings.HasSuffix(o.Name, "@"+domain.Name) }
