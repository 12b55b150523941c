package paneltest

import (
	"net/http"
	"strings"
)

// IsOfSessions tells whether a call is refused to tokens.
func IsOfSessions(method, path string) bool {
	return path == "/api/me/confirm/" || strings.HasPrefix(path, "/api/me/second-factor/") && method != http.MethodGet
}
