package http_test

import (
	"net/http"
	"testing"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// Each file in testdata is a conversation with the panel, as one would hold it
// with curl.
func TestConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Open(t).Stock(t)
		return s.Handler, s.Known
	})
}
