package operations_test

import (
	"net/http"
	"testing"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

func TestWhoSitsAtTheDeskSeesAndDoesWhatOrdersNeed(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/desk/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Desk(t)
		return s.Handler, s.Known
	})
}
