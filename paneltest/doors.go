package paneltest

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

func Guarded(s *Shop) { s.Server.Settings.Abuse = true }

// Try signs in from an IP address.
func (s *Shop) Try(from, email, password string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/token/", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q}`, email, password)))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}
