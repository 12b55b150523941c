package paneltest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
)

const NoticeStream = "/notifications/api/v1/notifications/stream/"

func (s *Shop) Raise(t testing.TB, user int64, title string) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.Do(t, notice.Raise{ID: id, InApp: true, User: user, Text: notice.Text{Type: notice.Info, Title: title, Message: "News.", URL: "/"}, At: time.Now()})
	return id
}
