package projections

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
)

// notifications is what users have been told and what they want to hear of.
var notifications = New("notifications", `
	create table notifications (
		id                uuid    primary key,
		user_id           bigint  not null,
		notification_type text    not null,
		title             text    not null,
		message           text    not null,
		url               text    not null,
		metadata          jsonb   not null,
		is_email_sent     boolean not null default false,
		unread_since      timestamptz not null,
		read_at           timestamptz, -- null: unread, unless it was read with all others
		created_at        timestamptz not null,
		updated_at        timestamptz not null,
		version           int     not null -- of the notification's stream
	) with (fillfactor = 90);
	create index notifications_newest on notifications (user_id, created_at desc, id desc);
	create index notifications_open on notifications (user_id, created_at desc, id desc) include (unread_since) where read_at is null;
	create index notifications_again on notifications (user_id, created_at desc, id desc) include (unread_since) `+
	`where read_at is null and unread_since > created_at;
	create index notifications_read on notifications (user_id, created_at desc, id desc) where read_at is not null;

	create table inboxes (
		user_id bigint primary key,
		total   bigint not null default 0, -- notifications, read or not
		unread  bigint not null default 0, -- of these
		through timestamptz not null default '-infinity', -- what has been unread since then or longer was read
		read_at timestamptz, -- at that time
		version int not null default 0
	) with (fillfactor = 70);

	create table preferences (
		user_id bigint primary key,
		wishes  jsonb  not null, -- only what was ever set
		version int    not null
	)`,

	On(func(at eventstore.RecordedEvent, e notice.Raised) Change {
		inbox := Row{{"user_id", e.User}}
		return count(
			"inboxes", inbox,
			Row{{"total", 1}, {"unread", either(or(missing(of("i", "user_id")), before(of("i", "through"), now)), 1, 0)}},
		).
			usingAny("i", "inboxes", inbox).with(insert("notifications", Row{
			{"id", at.Stream.ID},
			{"user_id", e.User},
			{"notification_type", e.Type},
			{"title", e.Title},
			{"message", e.Message},
			{"url", e.URL},
			{"metadata", texts(e.Metadata)},
			{"unread_since", now},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		}))
	}),
	On(func(at eventstore.RecordedEvent, _ notice.Read) Change {
		return counting(at, Row{{"unread", -1}}).provided(wasUnread).
			with(update("notifications", its(at), changed(at, Row{{"read_at", either(missing(col("read_at")), now, keep)}})))
	}),
	On(func(at eventstore.RecordedEvent, _ notice.MarkedUnread) Change {
		return counting(
			at,
			Row{{"unread", less(either(before(of("i", "through"), now), number(1), number(0)), either(wasUnread, number(1), number(0)))}},
		).
			with(update("notifications", its(at), changed(at, Row{{"read_at", null}, {"unread_since", now}})))
	}),
	On(func(at eventstore.RecordedEvent, _ notice.MailRequested) Change { return noted(at) }),
	On(func(at eventstore.RecordedEvent, _ notice.MailGivenUp) Change { return noted(at) }),
	On(func(at eventstore.RecordedEvent, _ notice.Mailed) Change {
		return update("notifications", its(at), changed(at, Row{{"is_email_sent", true}}))
	}),
	On(func(at eventstore.RecordedEvent, _ notice.Deleted) Change {
		return counting(at, Row{{"total", -1}, {"unread", either(wasUnread, -1, 0)}}).with(remove("notifications", its(at)))
	}),
	On(func(at eventstore.RecordedEvent, e notice.AllRead) Change {
		return upsert("inboxes", Row{{"user_id", at.Stream.ID}}, Row{
			{"through", e.Through}, {"read_at", now}, {"version", at.Version},
		}, Row{
			{"through", excluded("through")},
			{"read_at", excluded("read_at")},
			{"version", excluded("version")},
			{"unread", unreadNow()},
		}).after("notifications", nil)
	}),
	On(func(at eventstore.RecordedEvent, e notice.PreferencesSet) Change {
		return upsert("preferences", Row{{"user_id", at.Stream.ID}}, Row{{"wishes", e.Values}, {"version", at.Version}},
			Row{{"wishes", merged(excluded("wishes"))}, {"version", excluded("version")}})
	}),
).
	LooksBy("notifications_open", "notifications_again").
	ReadBy("notifications", ofUser("user_id")).
	ReadBy("inboxes", ofUser("user_id")).
	ReadBy("preferences", ofUser("user_id"))

// noted is what an event about a notification's mail changes: nothing but its version.
func noted(at eventstore.RecordedEvent) Change {
	return update("notifications", its(at), Row{{"version", at.Version}})
}

func texts(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// A NoticeReader reads notifications, preferences and webhook endpoints.
type NoticeReader Scope

// Notices returns the reader of notices.
func (s Scope) Notices() NoticeReader { return NoticeReader(s) }

// A Notification is something that a user was told.
type Notification struct {
	ID               uuid.UUID
	UserID           int64
	NotificationType notice.Type
	Title            string
	Message          string
	URL              string
	IsRead           bool
	IsEmailSent      bool
	CreatedAt        time.Time
	ReadAt           *time.Time
	Metadata         json.RawMessage
	Version          int  // of the notification's stream
	WithAll          bool // read along with all others
	Inbox            int  // version of the user's inbox
}

// Fields are the notification as the API shows it.
func (n *Notification) Fields() field.Set {
	return field.Set{
		field.UUID("id", &n.ID).ReadOnly(),
		field.Text("notification_type", (*string)(&n.NotificationType)).ReadOnly(),
		field.Text("title", &n.Title).ReadOnly(),
		field.Text("message", &n.Message).ReadOnly(),
		field.Text("url", &n.URL).ReadOnly(),
		field.Flag("is_read", &n.IsRead),
		field.Flag("is_email_sent", &n.IsEmailSent).ReadOnly(),
		field.Time("created_at", &n.CreatedAt).ReadOnly(),
		field.NullTime("read_at", &n.ReadAt).ReadOnly(),
		field.Any("metadata", &n.Metadata).ReadOnly(),
	}
}

const (
	ofInbox             = ` left join inboxes i on i.user_id = n.user_id`
	notificationColumns = `n.id, n.user_id, n.notification_type, n.title, n.message, n.url, n.is_email_sent, n.created_at,
		n.metadata, n.version, coalesce(i.version, 0) as inbox, coalesce(n.unread_since <= i.through, false) as with_all,
		n.read_at is not null or coalesce(n.unread_since <= i.through, false) as is_read,
		least(n.read_at, case when n.unread_since <= i.through then i.read_at end) as read_at`
)

var notificationsBy = listRules{
	columns: notificationColumns, from: "notifications n", joined: ofInbox, id: "n.id",
	search: `lower(n.title || chr(10) || n.message)`,
	fields: fieldsOf("n", "notification_type"),
}

// Notification returns one of the caller's own notifications.
func (s NoticeReader) Notification(ctx context.Context, id uuid.UUID) (Notification, error) {
	w := s.caller.user("n.user_id")
	w.and("n.id = ?", id)
	return one[Notification](ctx, s.db, "Notification", `select `+notificationColumns+` from notifications n`+ofInbox, w)
}

// Notifications lists the caller's own notifications: by is_read and
// notification_type.
func (s NoticeReader) Notifications(ctx context.Context, l Listing) (Listed[Notification], error) {
	w, by, others := s.caller.user("n.user_id"), notificationsBy, l.Filters
	figure := "total"
	l.Filters = nil
	for _, f := range others {
		switch read, is := f.Value.(bool); {
		case f.Field != "is_read" || !is:
			l.Filters = append(l.Filters, f)
		case read:
			by.parts, figure = readUntil(through), "total - unread"
		default:
			by.parts, figure = unreadBehind(through), "unread"
		}
	}
	if len(l.Filters)+len(l.Search) == 0 {
		by.counted = s.counted(figure)
	}
	return part[Notification](ctx, s.db, by, w, l)
}

// Preferences are what a user wants to hear of: one's own, or any user's for
// the program itself. A user who never set any has the defaults, at version 0.
func (s NoticeReader) Preferences(ctx context.Context, user int64) (notice.Preferences, int, error) {
	type row struct {
		Wishes  field.Values
		Version int
	}
	p := notice.DefaultPreferences()
	w := s.caller.user("user_id")
	w.and("user_id = ?", user)
	set, found, err := maybe(one[row](ctx, s.db, "User", `select wishes, version from preferences`, w))
	if err == nil && found {
		err = p.Fields().Load(set.Wishes)
	}
	return p, set.Version, err
}

// NotificationsAmong are those of the caller's own notifications that have
// these identifiers, by them.
func (s NoticeReader) NotificationsAmong(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]Notification, error) {
	w := s.caller.user("n.user_id")
	w.and("n.id = any(?)", ids)
	rows, err := list[Notification](ctx, s.db, `select `+notificationColumns+` from notifications n`+ofInbox, w, "")
	found := make(map[uuid.UUID]Notification, len(rows))
	for _, n := range rows {
		found[n.ID] = n
	}
	return found, err
}

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
		(select max(unread_since) from notifications n where n.user_id = i.user_id and read_at is null
			and unread_since > created_at and unread_since > i.through)) as through
		from inboxes i`, s.caller.user("i.user_id")))
	if err != nil || found.Through == nil {
		return Unread{}, err
	}
	return Unread{found.Count, *found.Through}, nil
}
