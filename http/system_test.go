//go:build system

package http_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"hostpanel/eventstore/credentials"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// The conversations in testdata/examples are those that the API document shows.
func TestConversationsOfTheExamples(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T) *paneltest.Shop{
		"accounts": func(t *testing.T) *paneltest.Shop { return paneltest.Open(t).People(t).InABrowser(t, paneltest.Root) },
		"audit":    func(t *testing.T) *paneltest.Shop { s := paneltest.Open(t).People(t); s.Indexed(t); return s },
		"billing":  func(t *testing.T) *paneltest.Shop { return billedForExamples(t, paneltest.Open(t).People(t).Stock(t)) },
		"hosting": func(t *testing.T) *paneltest.Shop {
			return provable(t, withNameServers(paneltest.House(t).Told(t).Hooked(t)))
		},
		"notifications": func(t *testing.T) *paneltest.Shop { return paneltest.Open(t).People(t).Told(t) },
		"operations": func(t *testing.T) *paneltest.Shop {
			s := paneltest.Office(t)
			s.Enrolled(t,
				paneltest.Eve)
			return s
		},
		"orders": busyDesk,
		"storefront": func(t *testing.T) *paneltest.Shop {
			return signing(paneltest.Open(t).Stock(t).People(t), exampleWebhook)
		},
	} {
		routetest.Run(t, "testdata/examples/"+name+".http", func(t *testing.T) (http.Handler, routetest.Known) {
			s := begin(t)
			return s.Handler, s.Known
		})
	}
}

func TestManyGuessesAtOnceAreNoWayAroundTheLimit(t *testing.T) {
	s := paneltest.Open(t).People(t)
	refused, throttled, hashes := 0, 0, credentials.PasswordHashes()
	for _, w := range s.AtOnce(15, func(int) *httptest.ResponseRecorder {
		return s.Try("192.0.2.1:1", "ana@example.com",
			"wrong")
	}) {
		switch w.Code {
		case http.StatusUnauthorized:
			refused++
		case http.StatusTooManyRequests:
			throttled++
		}
	}
	if refused != 5 || throttled != 10 || credentials.PasswordHashes()-hashes != 5 {
		t.Fatalf("%d refused, %d throttled, %d hashes", refused, throttled, credentials.PasswordHashes()-hashes)
	}
}
