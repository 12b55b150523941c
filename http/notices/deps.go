// Package notices serves what the panel has told each user, which mails
// they want, and the links in mails that stop them (docs/notifications.md).
package notices

import (
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Deps are what notifications need of the rest of the program.
type Deps struct {
	Web             *web.Renderer
	Callers         *caller.Callers
	Commands        record.Commands
	Feed            route.LiveFeed
	UnsubscribeKeys [][]byte // that may have signed the links in mails
}

type handlers struct{ Deps }
