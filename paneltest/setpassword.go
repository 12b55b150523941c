package paneltest

import (
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/credentials"
)

const purpose = "set_password"

func (s *Shop) Link(t *testing.T, user int64) string {
	t.Helper()
	token := credentials.NewToken()
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, credentials.TokenRows(token, purpose, user, time.Hour)); err != nil {
		t.Fatal(err)
	}
	return token
}
