package paneltest

import (
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
)

// Joining is the token in the mail to a user about an order.
func (s *Shop) Joining(user int64, id uuid.UUID) string {
	return notice.Joining{User: user, Order: id}.Token(s.Server.UnsubscribeKeys[0])
}

func AVPSOf(email string) string {
	return fmt.Sprintf(`{"plan_id":2,"customer_name":"Ana","customer_email":%q,"payment_method":"test"}`, email)
}
