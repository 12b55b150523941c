package notices

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// notificationStreams is the number of streams that a user may have open.
const notificationStreams = 10

func (s *Area) notificationStream() []route.Route {
	return []route.Route{
		route.Stream[projections.Notification](
			notificationsPath+"stream/", "What happens to own notifications, as it happens", s.followNotifications,
		).
			As("notification_stream").AtMost(notificationStreams, 0).
			Saying("Events: notification, as GET shows it, when it is new or changed; deleted with its id; all_read " +
				"with through; reset when so much has happened since the last event that it is not told: load the " +
				"list anew. Each has the position of the log as its id."),
	}
}

// The bodies of the stream's events that hold no notification.
type (
	goneNotification struct{ ID uuid.UUID }
	readThrough      struct{ Through time.Time }
)

// Fields name the notification.
func (g *goneNotification) Fields() field.Set { return field.Set{field.UUID("id", &g.ID)} }

// Fields hold the time up to which all notifications are read.
func (r *readThrough) Fields() field.Set { return field.Set{field.Time("through", &r.Through)} }

// An inboxFollowing streams the changes of a user's notifications.
type inboxFollowing struct {
	route.LiveEvents
	area   *Area
	isLost bool // the client still has to be sent a reset event
}

func (s *Area) followNotifications(ctx context.Context, c route.Call, after int64) (route.Following, error) {
	l, err := s.Feed.Listen(ctx, after, notice.InboxOf(caller.Of(c).ID))
	if err != nil {
		return nil, err
	}
	return &inboxFollowing{l, s, l.Lost()}, nil
}

// Next shows notifications in their present state. Two changes of one
// notification both show the second state; a deleted one is not shown.
func (f *inboxFollowing) Next(ctx context.Context, c route.Call) (told []route.Told, at int64, err error) {
	events, at, err := f.Take(ctx)
	if err != nil {
		return nil, at, err
	}
	if f.isLost {
		told, f.isLost = append(told, route.Told{Name: "reset", Position: at, Body: field.Set{}}), false
	}
	shown, err := f.shown(ctx, c, events)
	if err != nil {
		return nil, at, err
	}
	for _, h := range events {
		if name, body := eventOf(h, shown); body != nil {
			told = append(told, route.Told{Name: name, Position: h.Position, Body: body})
		}
	}
	return told, at, nil
}

// shown loads the notifications of the events.
func (f *inboxFollowing) shown(
	ctx context.Context, c route.Call, events []domain.LiveEvent,
) (map[uuid.UUID]projections.Notification, error) {
	var ids []uuid.UUID
	for _, h := range events {
		if id, err := uuid.Parse(h.Stream.ID); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return f.area.Callers.Scope(c).Notices().NotificationsAmong(ctx, ids)
}

func eventOf(h domain.LiveEvent, shown map[uuid.UUID]projections.Notification) (string, route.Answer) {
	id, _ := uuid.Parse(h.Stream.ID) // the streams of inboxes have no UUID and give the zero one
	switch e := h.Event.(type) {
	case notice.AllRead:
		return "all_read", (&readThrough{e.Through}).Fields()
	case notice.Deleted:
		return "deleted", (&goneNotification{id}).Fields()
	}
	if n, is := shown[id]; is {
		return "notification", n.Fields()
	}
	return "", nil
}
