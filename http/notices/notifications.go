package notices

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

const (
	noticesPrefix     = web.NotificationsAPI
	notificationsPath = noticesPrefix + "notifications/"
	notificationPath  = notificationsPath + "{id:uuid}/"
	preferencesPath   = noticesPrefix + "preferences/"
)

// Routes are what users do with what they were told. Only the panel itself
// notifies users, so no call creates a notification (docs/notifications.md).
func (s *Area) Routes() route.Area {
	return route.Area{
		Name: "Notifications", Prefix: noticesPrefix, Access: s.Callers.User(),
		About:  "What the panel tells each user, and what users want to hear of. All of it is the caller's own.",
		Routes: slices.Concat(s.notificationRoutes(), s.allAtOnceRoutes(), s.notificationStream(), s.preferenceRoutes()),
	}
}

func (s *Area) notificationRoutes() []route.Route {
	return []route.Route{
		listing.Pages[notification](notificationsPath, "Own notifications, newest first", listing.Spec{
			Filters: notificationFilters, Search: "title and message", UUIDs: true,
		}, s.listNotifications).As("notification_list"),
		route.Get(notificationPath, "A notification", record.Found[notification]).As("notification_read").
			Of("Notification").Finding(s.findNotification),
		route.Patch(notificationPath, "Mark a notification as read or unread", s.changeNotification).
			As("notification_change").Of("Notification").
			Finding(s.findNotification).Saying("Nothing but is_read changes."),
		route.Delete(notificationPath, "Delete a notification", s.deleteNotification).As("notification_delete").Of("Notification").
			Finding(s.findNotification),
		route.Patch(notificationPath+
			"mark_read/", "Mark a notification as read", s.markRead).As("notification_mark_read").Of("Notification").
			Finding(s.findNotification).Saying("One that has been read keeps the time at which it was."),
	}
}

func notificationFilters() field.Set {
	var types []string
	for _, t := range notice.Types {
		types = append(types, string(t))
	}
	return field.Set{
		field.Flag("is_read", new(bool)).Doc("Only those that have been read, or that have not."),
		field.Text("notification_type", new(string)).Among(types...).Doc("Only those of this type."),
	}
}

// A notification is what its user was told, and whether it has been read.
type notification struct {
	projections.Notification
	was bool // read when it was found
}

// Tag changes with the notification, and when its user reads all at once.
func (n *notification) Tag() string {
	return record.Tag(notice.NotificationCategory, n.ID.String(), n.Version) + "-" + strconv.Itoa(n.Inbox)
}

func (s *Area) listNotifications(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[notification], error) {
	rows, err := s.Callers.Scope(c).Notices().Notifications(ctx, l)
	return record.Map(rows, err, func(n projections.Notification) notification { return notification{n, n.IsRead} })
}

func (s *Area) notification(ctx context.Context, c route.Call, id uuid.UUID) (*notification, error) {
	row, err := s.Callers.Scope(c).Notices().Notification(ctx, id)
	return &notification{row, row.IsRead}, err
}

func (s *Area) findNotification(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.notification(ctx, c, c.UUID("id")))
}

func (s *Area) changeNotification(ctx context.Context, c route.Call, n *notification) (*notification, error) {
	return s.setRead(ctx, c, n, n.IsRead)
}

func (s *Area) markRead(ctx context.Context, c route.Call, _ *route.Nothing) (*notification, error) {
	n := c.Subject.(*notification) //nolint:forcetypeassert // found by findNotification
	return s.setRead(ctx, c, n, true)
}

// setRead changes nothing about what is so already.
func (s *Area) setRead(ctx context.Context, c route.Call, n *notification, read bool) (*notification, error) {
	var err error
	switch {
	case read == n.was:
	case read:
		err = record.Execute(ctx, s.Commands, c, n.Version, notice.MarkRead{ID: n.ID, At: s.Callers.Now()})
	default:
		err = record.Execute(ctx, s.Commands, c, n.Version, notice.Unread{ID: n.ID, WithAll: n.WithAll})
	}
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*notification, error) { return s.notification(ctx, c, n.ID) })
}

func (s *Area) deleteNotification(ctx context.Context, c route.Call) error {
	n := c.Subject.(*notification) //nolint:forcetypeassert // found by findNotification
	return record.Execute(ctx, s.Commands, c, n.Version, notice.Delete{ID: n.ID})
}

func (s *Area) allAtOnceRoutes() []route.Route {
	return []route.Route{
		route.Patch(notificationsPath+
			"mark_all_read/", "Mark all own notifications as read", s.markAllRead).As("notification_mark_all_read").
			With(http.StatusOK).Saying("Answers with how many were unread."),
		route.Get(notificationsPath+
			"unread_count/", "How many own notifications are unread", s.countUnread).As("notification_unread_count"),
	}
}

// A markedRead is how many notifications were unread.
type markedRead struct{ Count int64 }

// Fields are the number.
func (m *markedRead) Fields() field.Set { return field.Set{field.Int("marked_read", &m.Count)} }

// An unreadCount is how many notifications are unread.
type unreadCount struct{ Count int64 }

// Fields are the number.
func (u *unreadCount) Fields() field.Set { return field.Set{field.Int("unread_count", &u.Count)} }

// markAllRead is one event, however many notifications there are. Of two calls
// at once, one marks them.
func (s *Area) markAllRead(ctx context.Context, c route.Call, _ *route.Nothing) (*markedRead, error) {
	found, err := s.Callers.Scope(c).Notices().Unread(ctx)
	if err != nil || found.Count == 0 {
		return &markedRead{}, err
	}
	done, err := s.Commands.Execute(ctx, c.Cause(), notice.MarkAllRead{User: caller.Of(c).ID, Through: found.Through})
	if err != nil {
		return nil, err
	}
	if done.Position == 0 { // others were faster
		return &markedRead{}, nil
	}
	return &markedRead{found.Count}, nil
}

func (s *Area) countUnread(ctx context.Context, c route.Call) (*unreadCount, error) {
	count, err := s.Callers.Scope(c).Notices().UnreadCount(ctx)
	return &unreadCount{count}, err
}
