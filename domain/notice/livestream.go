package notice

import (
	"strconv"

	"hostpanel/domain"
)

// InboxOf is the stream of a user's inbox.
func InboxOf(user int64) domain.Stream {
	return domain.Stream{Category: InboxCategory, ID: strconv.FormatInt(user, 10)}
}

// Heard is where those listen whom an event concerns: what becomes of a
// notification is heard in the inbox of its user, all else where it stands
// (docs/notifications.md, "Live").
func Heard(in domain.Stream, e domain.Event) domain.Stream {
	switch e := e.(type) {
	case Raised:
		return InboxOf(e.User)
	case Read:
		return InboxOf(e.User)
	case MarkedUnread:
		return InboxOf(e.User)
	case Mailed:
		return InboxOf(e.User)
	case Deleted:
		return InboxOf(e.User)
	}
	return in
}
