package notifications

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

// notificationStreams is how many of these a user may have open.
const notificationStreams = 10

func (s *handlers) notificationStream() []route.Route {
	return []route.Route{
		route.Stream[projections.Notification](notificationsPath+"stream/", "What happens to own notifications, as it happens", s.followNotifications).
			As("notification_stream").AtMost(notificationStreams, 0).
			Saying("Events: notification, as GET shows it, when it is new or changed; deleted with its id; all_read with through; reset when so much has happened since the last event " +
				"that it is not told: load the list anew. Each has the position of the log as its id."),
	}
}

// What the events of the stream say besides notifications.
type (
	goneNotification struct{ ID uuid.UUID }
	readThrough      struct{ Through time.Time }
)

// Fields name the notification.
func (g *goneNotification) Fields() field.Set { return field.Set{field.UUID("id", &g.ID)} }

// Fields tell until when everything is read.
func (r *readThrough) Fields() field.Set { return field.Set{field.Time("through", &r.Through)} }

// An inboxFollowing tells a user what happens to their notifications.
type inboxFollowing struct {
	route.LiveEvents
	server *handlers
	isLost bool // which is still to be said
}

func (s *handlers) followNotifications(ctx context.Context, c route.Call, after int64) (route.Following, error) {
	l, err := s.Feed.Listen(ctx, after, notice.InboxOf(caller.Of(c).ID))
	if err != nil {
		return nil, err
	}
	return &inboxFollowing{l, s, l.Lost()}, nil
}

// Next shows notifications as they are by now: of one that was changed twice,
// both events show the second change, and one that is gone is not shown.
func (f *inboxFollowing) Next(ctx context.Context, c route.Call) (told []route.Told, at int64, err error) {
	facts, at, err := f.Take(ctx)
	if err != nil {
		return nil, at, err
	}
	if f.isLost {
		told, f.isLost = append(told, route.Told{Name: "reset", Position: at, Body: field.Set{}}), false
	}
	shown, err := f.shown(ctx, c, facts)
	if err != nil {
		return nil, at, err
	}
	for _, h := range facts {
		if name, body := eventOf(h, shown); body != nil {
			told = append(told, route.Told{Name: name, Position: h.Position, Body: body})
		}
	}
	return told, at, nil
}

// shown are the notifications that the events are about.
func (f *inboxFollowing) shown(ctx context.Context, c route.Call, facts []domain.LiveEvent) (map[uuid.UUID]projections.Notification, error) {
	var ids []uuid.UUID
	for _, h := range facts {
		if id, err := uuid.Parse(h.Stream.ID); err == nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return f.server.Scope(c).NotificationsAmong(ctx, ids)
}

func eventOf(h domain.LiveEvent, shown map[uuid.UUID]projections.Notification) (string, route.Answer) {
	id, _ := uuid.Parse(h.Stream.ID) // of an inbox: nobody's
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
