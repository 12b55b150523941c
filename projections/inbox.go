package projections

import (
	"context"
	"time"

	"hostpanel/eventstore"
)

// How many notifications a user has, and how many of them are unread, stands in
// the user's row of inboxes and changes with every event: a million rows are
// never counted for it (docs/notifications.md, "Figures").

// counting changes the figures of the inbox i that the notification n is in.
func counting(at eventstore.RecordedEvent, figures Row) Change {
	return count("inboxes", Row{{"user_id", of("n", "user_id")}}, figures).
		using("n", "notifications", its(at)).using("i", "inboxes", Row{{"user_id", of("n", "user_id")}})
}

// wasUnread tells whether the notification n was unread in its inbox i.
var wasUnread = and(missing(of("n", "read_at")), before(of("i", "through"), of("n", "unread_since")))

// unreadBehind are the notifications that are unread where the user has read
// all until then: those raised since, each of which is in notifications_open
// unless it was read, and the few that were marked unread since.
func unreadBehind(through string) []string {
	return []string{
		`n.read_at is null and n.created_at > ` + through,
		`n.read_at is null and n.unread_since > n.created_at and n.unread_since > ` + through + ` and n.created_at <= ` + through,
	}
}

// unreadNow is how many of the user's are unread where all was read until then. Its two parts
// are counted one by one, because each has an index that passes by what was read along.
func unreadNow() Expr {
	var parts []any
	for _, part := range unreadBehind("excluded.through") {
		parts = append(parts, rows("n", "notifications", and(is(of("n", "user_id"), excluded("user_id")), written(part))))
	}
	return addition.call(parts...)
}

// readUntil are the other ones: those read by themselves, and those read along
// with all others, which are all that notifications_open holds from then on
// back but for the few that were marked unread since.
func readUntil(through string) []string {
	return []string{`n.read_at is not null`, `n.read_at is null and n.created_at <= ` + through + ` and n.unread_since <= ` + through}
}

// through is until when the caller has read all. A user who was notified has an
// inbox.
const through = `(select through from inboxes where user_id = (select scope_user()))`

// counted is one of the figures, or what comes of them.
func (s NoticeReader) counted(figure string) *knownCount {
	w := s.caller.user("user_id")
	return &knownCount{`select coalesce(sum(` + figure + `), 0)::bigint from inboxes` + w.String(), w.args}
}

// UnreadCount is how many notifications the caller has not read yet.
func (s NoticeReader) UnreadCount(ctx context.Context) (int64, error) {
	return value[int64](ctx, s.db, `select coalesce(sum(unread), 0)::bigint from inboxes`, s.caller.user("user_id"), "")
}

// An Unread is what a user has not read yet.
type Unread struct {
	Count   int64
	Through time.Time // since when the newest is unread; zero: there is none
}

// Unread is what the caller has not read yet.
func (s NoticeReader) Unread(ctx context.Context) (Unread, error) {
	type row struct {
		Count   int64
		Through *time.Time
	}
	found, _, err := maybe(one[row](ctx, s.db, "User", `select unread as count, greatest(
		(select max(created_at) from notifications n where n.user_id = i.user_id and read_at is null and created_at > i.through),
		(select max(unread_since) from notifications n where n.user_id = i.user_id and read_at is null and unread_since > created_at and unread_since > i.through)) as through
		from inboxes i`, s.caller.user("i.user_id")))
	if err != nil || found.Through == nil {
		return Unread{}, err
	}
	return Unread{found.Count, *found.Through}, nil
}
