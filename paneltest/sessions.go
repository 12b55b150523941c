package paneltest

import (
	"encoding/json"
	"net/http"
	"testing"
)

// A shownSignIn is a sign-in as the API shows it.
type shownSignIn struct {
	ID, Kind  string
	IsCurrent bool `json:"is_current"`
}

// SignIns are those of the caller.
func (s *Shop) SignIns(t *testing.T, headers ...string) (all []shownSignIn) {
	t.Helper()
	w := s.Call("GET", "/api/me/sessions/", "", headers...)
	var page struct{ Results []shownSignIn }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return page.Results
}
