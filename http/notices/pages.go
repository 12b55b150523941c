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
)

// PageRoutes are where users read in a browser what they were told
// (docs/notifications.md, "In the browser").
func (s *Area) PageRoutes() route.Area {
	prefers := web.FormPage{Show: s.showPreferences, Forms: map[string]web.FormHandler{"preferences": s.takePreferences}}
	told := web.FormPage{
		Show:  s.showNotifications,
		Forms: map[string]web.FormHandler{"notice_read": s.takeRead, "notices_read": s.takeAllRead},
	}
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

// list is the page of notifications, each with a form that marks it as read.
func (s *Area) list(back *web.Returned) web.List[notification] {
	return web.List[notification]{
		Web: s.Web, Name: "notices", Choices: []web.Choice{isRead}, Read: s.listNotifications, Fields: (*notification).Fields,
		Cards: web.Cards{Title: "title", Lines: []string{"message"}, Note: []string{"created_at"}},
		More: func(c route.Call, n *notification, card *web.Card) {
			if card.Path = n.URL; !n.IsRead {
				card.Badges = []web.Badge{{Class: "provisioning", Text: web.Texts[web.Readers(c)]["panel_unread"]}}
				form := s.Web.Fill(c, web.Form{Name: "notice_read", Of: n.ID.String(), Action: here(c)}, back)
				card.Form = &form
			}
		},
	}
}

func (s *Area) showNotifications(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	data, err := web.ListData(ctx, c, s.list(back))
	if err != nil {
		return nil, err
	}
	unread := caller.VisitOf(c).Unread
	data["Unread"], data["Stream"], data["All"] = unread, noticesPrefix+"notifications/stream/", nil
	if unread > 0 {
		data["All"] = s.Web.Fill(c, web.Form{Name: "notices_read", Action: here(c)}, back)
	}
	return s.Web.Sheet(c, back.StatusOf(), "notices", "notices_title", data)
}

// isRead narrows the list to what has been read, or has not.
var isRead = web.Choice{Name: "is_read", Text: "notices_read_", Values: []string{"false", "true"}, Value: web.IsTrue}

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
