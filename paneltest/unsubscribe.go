package paneltest

import (
	"hostpanel/domain/notice"
)

// Unsubscribe returns the token in mails about invoices to a user.
func (s *Shop) Unsubscribe(user int64) string {
	return notice.Unsubscription{User: user, Preference: notice.Billing.Preference()}.Token(s.Server.UnsubscribeKeys[0])
}
