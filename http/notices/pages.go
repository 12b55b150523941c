package notices

import (
	"context"
	"net/url"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// PageRoutes are where users read in a browser what they were told
// (docs/notifications.md, "In the browser").
func (s *Area) PageRoutes() route.Area {
	prefers := web.FormPage{Show: s.showPreferences, Forms: map[string]web.FormHandler{"preferences": s.takePreferences}}
	told := web.FormPage{Show: s.showNotifications, Forms: map[string]web.FormHandler{"notice_read": s.takeRead, "notices_read": s.takeAllRead}}
	return route.Area{
		Name: "Notifications in the browser", Access: s.Callers.Session(),
		About: "What the panel has told the user.",
		Routes: []route.Route{
			web.View(web.NotificationsPath, "What the user was told", told.Look).As("notifications_page"),
			s.Web.Press(web.NotificationsPath, "Mark notifications as read", told).As("notifications_form"),
			web.View(web.PreferencesPath, "What the user wants to hear of", prefers.Look).As("preferences_page"),
			s.Web.Press(web.PreferencesPath, "Change what the user wants to hear of", prefers).As("preferences_form"),
		},
	}
}

// A noticeRow is a notification in the list.
type noticeRow struct {
	Path, Title, Message string
	At                   web.Aspect
	Read                 *web.Form // nil: it has been read
}

func (s *Area) showNotifications(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	listing, bar := web.Asked(c, w, isRead)
	found, err := s.Callers.Scope(c).Notices().Notifications(ctx, listing)
	if err != nil {
		return nil, err
	}
	rows := make([]noticeRow, len(found.Rows))
	for i, n := range found.Rows {
		rows[i] = s.noticeRow(c, w, n, back)
	}
	unread := caller.VisitOf(c).Unread
	data := map[string]any{"Notices": rows, "Unread": unread, "Stream": noticesPrefix + "notifications/stream/", "All": nil}
	if unread > 0 {
		data["All"] = s.Web.Fill(c, web.Form{Name: "notices_read", Action: here(c)}, back)
	}
	return s.Web.Sheet(c, back.StatusOf(), "notices", "notices_title", web.Paged(c, bar, found.Count, data))
}

// isRead narrows the list to what has been read, or has not.
var isRead = web.Choice{Name: "is_read", Text: "notices_read_", Values: []string{"false", "true"}, Value: web.IsTrue}

func (s *Area) noticeRow(c route.Call, w web.Words, n projections.Notification, back *web.Returned) noticeRow {
	row := noticeRow{Path: n.URL, Title: n.Title, Message: n.Message, At: w.Moment("", &n.CreatedAt, "")}
	if !n.IsRead {
		form := s.Web.Fill(c, web.Form{Name: "notice_read", Of: n.ID.String(), Action: here(c)}, back)
		row.Read = &form
	}
	return row
}

// here is the part of the list that is shown, to which a form comes back.
func here(c route.Call) string {
	kept := url.Values{}
	for _, name := range []string{"is_read", "page"} {
		if value := c.Param(name); value != "" {
			kept.Set(name, value)
		}
	}
	if len(kept) == 0 {
		return c.Path
	}
	return c.Path + "?" + kept.Encode()
}

// takeRead marks a notification as read. A second time changes nothing.
func (s *Area) takeRead(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	id, err := uuid.Parse(sent.Get("of"))
	if err != nil {
		return nil, domain.RefuseField("of", field.NoSuchChoice)
	}
	n, err := s.notification(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if _, err := s.setRead(ctx, c, n, true); err != nil {
		return nil, err
	}
	return s.Web.Done(here(c), "notice_read"), nil
}

func (s *Area) takeAllRead(ctx context.Context, c route.Call, _ url.Values) (*route.Document, error) {
	if _, err := s.markAllRead(ctx, c, &route.Nothing{}); err != nil {
		return nil, err
	}
	return s.Web.Done(here(c), "notices_read"), nil
}
