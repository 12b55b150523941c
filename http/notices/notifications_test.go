package notices_test

import (
	"net/http"
	"testing"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// What users do with what they were told, as one would with curl.
func TestConversationsAboutNotifications(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/notices/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Open(t).People(t).Told(t)
		return s.Handler, s.Known
	})
}
