package notices

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// tell tells a user of an event, in the panel, by mail or both, as the user's
// preferences say. The id of the notification follows from the event and the
// user, so each user is told once (rule W-7).
func (n *Notifier) tell(ctx context.Context, r eventstore.RecordedEvent, user int64, text notice.Text, about map[string]string) error {
	if user == 0 {
		return nil
	}
	prefers, err := n.preferences(ctx, user)
	if err != nil {
		return err
	}
	id := noticeOf(r, user)
	raise := notice.Raise{
		ID: id, User: user, At: r.RecordedAt, Metadata: about, Text: text, InApp: prefers.InApp,
		Mail: prefers.Mails(text.Type) && n.isFresh(r),
	}
	if raise.Mail {
		if raise.Tenant, err = n.sender(ctx, r, user, text); err != nil {
			return err
		}
	}
	_, err = n.store.Execute(ctx, reactionTo(r, uuid.NewSHA1(id, []byte("raise"))), raise)
	return err
}

// noticeOf is the id of the notification that tells a user of an event.
func noticeOf(r eventstore.RecordedEvent, user int64) uuid.UUID {
	return uuid.NewSHA1(r.ID, fmt.Appendf(nil, "notification/%d", user))
}

// reactionTo is the metadata of the command with an id that follows from an
// event.
func reactionTo(r eventstore.RecordedEvent, id uuid.UUID) domain.Metadata {
	return domain.Metadata{ID: id, Actor: "system:reactions", Saga: r.Metadata.Saga}
}

// freshness is the age up to which an event is mailed. A log that is read
// again mails nothing that is older.
const freshness = 3 * day

func (n *Notifier) isFresh(r eventstore.RecordedEvent) bool {
	return n.runner.Now().Sub(r.RecordedAt) < freshness
}

// sender is the tenant in whose name a user is told: that which the event is
// about, or else the user's own. 0 is the panel, which writes to operators.
func (n *Notifier) sender(ctx context.Context, r eventstore.RecordedEvent, user int64, text notice.Text) (int64, error) {
	switch {
	case text.ToOperators():
		return 0, nil
	case r.Tenant != 0:
		return r.Tenant, nil
	}
	u, err := n.tables.For(projections.System).Accounts().User(ctx, user)
	return homeTenant(u), unlessMissing(err)
}

// unlessMissing forgives that a record is gone: no user is told of it.
func unlessMissing(err error) error {
	if domain.CodeOf(err) == domain.NotFound {
		return nil
	}
	return err
}
