package notice

import (
	"time"

	"hostpanel/domain"
)

// InboxCategory is that of the streams "inbox-<user>": what users do with all
// of their notifications at once.
const InboxCategory = "inbox"

// An Inbox is what its history amounts to.
type Inbox struct {
	Through time.Time `json:"through"` // what was raised until then has been read
}

// Inboxes is the behaviour of the streams "inbox-<user>".
var Inboxes = domain.Decider[Inbox, MarkAllRead, AllRead]{
	Decide: func(i Inbox, c MarkAllRead) ([]AllRead, error) { return c.decide(i) },
	Evolve: func(_ Inbox, e AllRead) Inbox { return Inbox(e) },
}

// MarkAllRead marks everything as read that was raised, or marked unread, until
// Through: one event, however many they are (docs/notifications.md).
type MarkAllRead struct {
	User    int64
	Through time.Time // when the newest of them was raised or marked unread
}

func (c MarkAllRead) decide(i Inbox) ([]AllRead, error) {
	if !c.Through.After(i.Through) {
		return nil, nil
	}
	return []AllRead{{Through: c.Through}}, nil
}

// Stream is the history of the user's inbox.
func (c MarkAllRead) Stream() domain.Stream {
	return InboxOf(c.User)
}
