package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"

	"github.com/google/uuid"
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
		read_at           timestamptz, -- null: unread
		created_at        timestamptz not null,
		version           int     not null -- of the notification's stream
	) with (fillfactor = 90);
	create index notifications_newest on notifications (user_id, created_at desc, id desc);
	create index notifications_unread on notifications (user_id, created_at) where read_at is null;

	create table preferences (
		user_id bigint primary key,
		wishes  jsonb  not null, -- only what was ever set
		version int    not null
	)`,

	On(`insert into notifications (id, user_id, notification_type, title, message, url, metadata, created_at, version)
		values ($1, $3, $4, $5, $6, $7, $8, recorded_at(), $2)`,
		func(at eventstore.Recorded, e notice.Raised) []any {
			return about(at, e.User, e.Type, e.Title, e.Message, e.URL, texts(e.Metadata))
		}),
	On(`update notifications set read_at = recorded_at(), version = $2 where id = $1`,
		func(at eventstore.Recorded, _ notice.Read) []any { return about(at) }),
	On(`update notifications set read_at = null, version = $2 where id = $1`,
		func(at eventstore.Recorded, _ notice.MarkedUnread) []any { return about(at) }),
	On(`update notifications set is_email_sent = true, version = $2 where id = $1`,
		func(at eventstore.Recorded, _ notice.Mailed) []any { return about(at) }),
	On(`delete from notifications where id = $1`,
		func(at eventstore.Recorded, _ notice.Deleted) []any { return []any{at.Stream.ID} }),
	On(`insert into preferences as p (user_id, wishes, version) values ($1, $3, $2)
		on conflict (user_id) do update set wishes = p.wishes || excluded.wishes, version = excluded.version`,
		func(at eventstore.Recorded, e notice.PreferencesSet) []any { return about(at, e.Values) }),
).
	ReadBy("notifications", ofUser("user_id")).
	ReadBy("preferences", ofUser("user_id"))

// about are the arguments of a statement: which notification, the version of
// its stream, and more from $3 on.
func about(at eventstore.Recorded, more ...any) []any {
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
	Version          int // of the notification's stream
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

const notificationColumns = `id, user_id, notification_type, title, message, url, read_at is not null as is_read, is_email_sent,
	created_at, read_at, metadata, version`

// Notification returns one of the caller's own notifications.
func (s Scope) Notification(ctx context.Context, id uuid.UUID) (Notification, error) {
	w := s.user("user_id")
	w.and("id = ?", id)
	return one[Notification](ctx, s, "Notification", `select `+notificationColumns+` from notifications`, w)
}

// Notifications lists the caller's own notifications, newest first; limit 0 is
// 100.
func (s Scope) Notifications(ctx context.Context, limit int) ([]Notification, error) {
	w := s.user("user_id")
	return list[Notification](ctx, s, `select `+notificationColumns+` from notifications`, w, w.newest("created_at", "id", limit))
}

// Unread are the caller's own notifications that are unread, oldest first.
func (s Scope) Unread(ctx context.Context) ([]uuid.UUID, error) {
	type row struct{ ID uuid.UUID }
	rows, err := list[row](ctx, s, `select id from notifications`, s.user("user_id"), " and read_at is null order by created_at, id")
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids, err
}

// UnreadCount is how many of the caller's own notifications are unread.
func (s Scope) UnreadCount(ctx context.Context) (n int64, err error) {
	n, err = value[int64](ctx, s, `select count(*) from notifications`, s.user("user_id"), ` and read_at is null`)
	if err != nil {
		err = fmt.Errorf("count unread notifications: %w", err)
	}
	return n, err
}

// Preferences are what a user wants to hear of: one's own, or anybody's for
// the program itself. Whoever never set any has the defaults, at version 0.
func (s Scope) Preferences(ctx context.Context, user int64) (notice.Preferences, int, error) {
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
