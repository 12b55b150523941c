package http_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/http/route/routetest"
)

// told tells people something.
func (s *shop) told(t testing.TB) *shop {
	t.Helper()
	for _, told := range []struct {
		name  string
		user  int64
		text  notice.Text
		about map[string]string
	}{
		{"first", ben, notice.OrderActive("saas", "ORD-1", "Start", "en"), map[string]string{"order_id": "1"}},
		{"second", ben, notice.Text{Type: notice.Hosting, Title: "A site", Message: "It is there.", URL: "/"}, nil},
		{"third", ben, notice.Text{Type: notice.Billing, Title: "An invoice", Message: "It is paid.", URL: "/"}, nil},
		{"foreign", ana, notice.Text{Type: notice.Info, Title: "Start", Message: "For Ana's eyes.", URL: "/"}, nil},
	} {
		id := uuid.New()
		s.known[told.name] = id.String()
		s.do(t, notice.Raise{ID: id, InApp: true, User: told.user, Text: told.text, Metadata: told.about, At: time.Now()})
	}
	return s
}

// What users do with what they were told, as one would with curl.
func TestConversationsAboutNotifications(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/notices/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := openShop(t).people(t).told(t)
		return s.handler, s.known
	})
}
