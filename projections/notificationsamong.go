package projections

import (
	"context"

	"github.com/google/uuid"
)

// NotificationsAmong are those of the caller's own notifications that have
// these identifiers, by them.
func (s NoticeReader) NotificationsAmong(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]Notification, error) {
	w := s.user("n.user_id")
	w.and("n.id = any(?)", ids)
	rows, err := list[Notification](ctx, s, `select `+notificationColumns+` from notifications n`+ofInbox, w, "")
	found := make(map[uuid.UUID]Notification, len(rows))
	for _, n := range rows {
		found[n.ID] = n
	}
	return found, err
}
