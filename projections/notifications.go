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
	create index notifications_again on notifications (user_id, created_at desc, id desc) include (unread_since) where read_at is null and unread_since > created_at;
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

	On(`with raised as (
			insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, created_at, updated_at, version)
			values ($1, $3, $4, $5, $6, $7, $8, recorded_at(), recorded_at(), recorded_at(), $2))
		insert into inboxes as i (user_id, total, unread) values ($3, 1, 1)
		on conflict (user_id) do update set total = i.total + 1, unread = i.unread + (recorded_at() > i.through)::int`,
		func(at eventstore.RecordedEvent, e notice.Raised) []any {
			return about(at, e.User, e.Type, e.Title, e.Message, e.URL, texts(e.Metadata))
		}),
	On(counting(`update notifications set read_at = coalesce(read_at, recorded_at()), updated_at = recorded_at(), version = $2 where id = $1`, `false`),
		func(at eventstore.RecordedEvent, _ notice.Read) []any { return about(at) }),
	On(counting(`update notifications set read_at = null, unread_since = recorded_at(), updated_at = recorded_at(), version = $2 where id = $1`, `recorded_at() > through`),
		func(at eventstore.RecordedEvent, _ notice.MarkedUnread) []any { return about(at) }),
	On(`update notifications set version = $2 where id = $1`,
		func(at eventstore.RecordedEvent, _ notice.MailRequested) []any { return about(at) }),
	On(`update notifications set version = $2 where id = $1`,
		func(at eventstore.RecordedEvent, _ notice.MailGivenUp) []any { return about(at) }),
	On(`update notifications set is_email_sent = true, updated_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.RecordedEvent, _ notice.Mailed) []any { return about(at) }),
	On(discounting(`delete from notifications where id = $1`),
		func(at eventstore.RecordedEvent, _ notice.Deleted) []any { return []any{at.Stream.ID} }),
	On(`insert into inboxes (user_id, through, read_at, version) values ($1, $3, recorded_at(), $2)
		on conflict (user_id) do update set through = excluded.through, read_at = excluded.read_at, version = excluded.version,
			unread = `+recounted,
		func(at eventstore.RecordedEvent, e notice.AllRead) []any { return about(at, e.Through) }),
	On(`insert into preferences as p (user_id, wishes, version) values ($1, $3, $2)
		on conflict (user_id) do update set wishes = p.wishes || excluded.wishes, version = excluded.version`,
		func(at eventstore.RecordedEvent, e notice.PreferencesSet) []any { return about(at, e.Values) }),
).
	ReadBy("notifications", ofUser("user_id")).
	ReadBy("inboxes", ofUser("user_id")).
	ReadBy("preferences", ofUser("user_id"))

// about are the arguments of a statement: which notification, the version of
// its stream, and more from $3 on.
func about(at eventstore.RecordedEvent, more ...any) []any {
	return append([]any{at.Stream.ID, at.Version}, more...)
}

func texts(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

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
	notificationColumns = `n.id, n.user_id, n.notification_type, n.title, n.message, n.url, n.is_email_sent, n.created_at, n.metadata, n.version,
		coalesce(i.version, 0) as inbox, coalesce(n.unread_since <= i.through, false) as with_all,
		n.read_at is not null or coalesce(n.unread_since <= i.through, false) as is_read,
		least(n.read_at, case when n.unread_since <= i.through then i.read_at end) as read_at`
)

var notificationsBy = listedBy{
	columns: notificationColumns, from: "notifications n", joined: ofInbox, id: "n.id",
	search: `lower(n.title || chr(10) || n.message)`,
	fields: fieldsOf("n", "notification_type"),
}

// Notification returns one of the caller's own notifications.
func (s NoticeReader) Notification(ctx context.Context, id uuid.UUID) (Notification, error) {
	w := s.user("n.user_id")
	w.and("n.id = ?", id)
	return one[Notification](ctx, s, "Notification", `select `+notificationColumns+` from notifications n`+ofInbox, w)
}

// Notifications lists the caller's own notifications: by is_read and
// notification_type.
func (s NoticeReader) Notifications(ctx context.Context, l Listing) (Listed[Notification], error) {
	w, by, others := s.user("n.user_id"), notificationsBy, l.Filters
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
	return part[Notification](ctx, s, by, w, l)
}

// Preferences are what a user wants to hear of: one's own, or any user's for
// the program itself. A user who never set any has the defaults, at version 0.
func (s NoticeReader) Preferences(ctx context.Context, user int64) (notice.Preferences, int, error) {
	type row struct {
		Wishes  field.Values
		Version int
	}
	p := notice.DefaultPreferences()
	w := s.user("user_id")
	w.and("user_id = ?", user)
	set, found, err := maybe(one[row](ctx, s, "User", `select wishes, version from preferences`, w))
	if err == nil && found {
		err = p.Fields().Load(set.Wishes)
	}
	return p, set.Version, err
}
