package paneltest

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"hostpanel/adapters/payments/test"
)

// Event is a signed event of the test provider about an order that was placed.
func Event(id, kind string, a Answer, minor int64, status string) string {
	session := a.URL[strings.LastIndex(a.URL[:len(a.URL)-1], "/")+1 : len(a.URL)-1]
	return fmt.Sprintf(`{"id":%q,"type":%q,"data":{"object":{"id":%q,"client_reference_id":%q,"amount_total":%d,"currency":"eur","payment_status":%q,"payment_id":"pay_1"}}}`,
		id, kind, session, a.ID, minor, status)
}

func (s *Shop) Webhook(path, body string) *httptest.ResponseRecorder {
	return s.Call("POST", path, body, test.Header, test.Sign([]byte(Secret), []byte(body), time.Now()))
}
