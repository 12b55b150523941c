package http_test

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Browsers may call the APIs from origins that the operator has named, and from
// no others. Pages with cookies stay closed.
func TestNamedOriginsMayCallTheAPIs(t *testing.T) {
	t.Parallel()
	const named = "https://app.example"
	for _, test := range []struct {
		path, origin string
		settings     []string
		allowed      bool
	}{
		{"/hosting/api/rest/sites/", named, []string{named}, true},
		{"/notifications/api/v1/notifications/", named, []string{named}, true},
		{"/operations/api/v1/orders/", named, []string{named}, true},
		{"/api/me/", named, []string{named}, true},
		{"/hosting/api/rest/sites/", "https://eu.app.example", []string{"*.app.example"}, true},
		{"/hosting/api/rest/sites/", "https://other.example", []string{named}, false},
		{"/hosting/api/rest/sites/", "null", []string{named}, false},
		{"/hosting/api/rest/sites/", named, nil, false},
		{"/account/", named, []string{named}, false},
	} {
		s := declared()
		s.Settings.Origins = test.settings
		ask := httptest.NewRequest("OPTIONS", test.path, nil)
		ask.Header.Set("Access-Control-Request-Method", "GET")
		want := ""
		if test.allowed {
			want = test.origin
		}
		ask.Header.Set("Origin", test.origin)
		preflight := httptest.NewRecorder()
		s.Handler().ServeHTTP(preflight, ask)
		headers := preflight.Header()
		if got := headers.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s from %s of %q: a preflight allows %q", test.path, test.origin, test.settings, got)
		}
		if test.allowed && !strings.Contains(headers.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("%s: a browser may not send its token: %v", test.path, headers)
		}
		call := httptest.NewRequest("GET", test.path, nil)
		call.Header.Set("Origin", test.origin)
		answer := httptest.NewRecorder()
		s.Handler().ServeHTTP(answer, call)
		if got := answer.Header().Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s from %s of %q: an answer %d allows %q", test.path, test.origin, test.settings, answer.Code, got)
		}
		if answer.Header().Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: cookies of the panel may travel", test.path)
		}
	}
}
