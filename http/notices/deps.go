// Package notices serves what the panel has told each user, which mails
// they want, and the links in mails that stop them (docs/notifications.md).
package notices

import (
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// An Area is the notifications, with what they need of the rest of the program.
type Area struct {
	Web             *web.Renderer
	Callers         *caller.Callers
	Commands        record.Commands
	Feed            route.LiveFeed
	UnsubscribeKeys [][]byte // that may have signed the links in mails
}
