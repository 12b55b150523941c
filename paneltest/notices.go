package paneltest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
)

// Told raises some notifications for people.
func (s *Shop) Told(t testing.TB) *Shop {
	t.Helper()
	for _, told := range []struct {
		name  string
		user  int64
		text  notice.Text
		about map[string]string
	}{
		{"first", Ben, notice.OrderActive("saas", "ORD-1", "Start", "en"), map[string]string{"order_id": "1"}},
		{"second", Ben, notice.Text{Type: notice.Hosting, Title: "A site", Message: "It is there.", URL: "/"}, nil},
		{"third", Ben, notice.Text{Type: notice.Billing, Title: "An invoice", Message: "It is paid.", URL: "/"}, nil},
		{"foreign", Ana, notice.Text{Type: notice.Info, Title: "Start", Message: "For Ana's eyes.", URL: "/"}, nil},
	} {
		id := uuid.New()
		s.Known[told.name] = id.String()
		s.Do(t, notice.Raise{ID: id, InApp: true, User: told.user, Text: told.text, Metadata: told.about, At: time.Now()})
	}
	return s
}

// NoticeStream is the stream of a user's notifications.
const NoticeStream = "/notifications/api/v1/notifications/stream/"

// Raise raises a notification for a user.
func (s *Shop) Raise(t testing.TB, user int64, title string) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.Do(t, notice.Raise{
		ID: id, InApp: true, User: user,
		Text: notice.Text{Type: notice.Info, Title: title, Message: "News.", URL: "/"}, At: time.Now(),
	})
	return id
}
