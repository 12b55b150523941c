package assembly

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// notify tells people, and the endpoints of tenants, of an event of the log.
func (s *Panel) notify(ctx context.Context, r eventstore.RecordedEvent) error {
	if err := errors.Join(s.tellNews(ctx, r), s.announce(ctx, r)); err != nil {
		return err
	}
	switch e := r.Event.(type) {
	case hosting.Removed:
		return s.forgetEndpoints(ctx, r)
	case order.Activated:
		return s.tellCustomer(ctx, r)
	case order.ProvisioningParked:
		return s.tellOperators(ctx, r, notice.OrderParked)
	case order.PaymentMismatchFound:
		return s.tellOperators(ctx, r, notice.PaymentMismatch)
	case account.TokenReused:
		return s.tellReuse(ctx, r)
	case operations.IncidentReported:
		return s.tellIncident(ctx, r, e)
	}
	return nil
}

// tellCustomer notifies the user whom the order was set up for, in the order's
// language.
func (s *Panel) tellCustomer(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	user, err := s.buyer(ctx, id)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, user, notice.OrderActive(o.ResourceType, o.OrderNumber, o.PlanName, o.Language), aboutOrder(o))
}

// tellOperators notifies every superuser of an order, each in their own
// language.
func (s *Panel) tellOperators(ctx context.Context, r eventstore.RecordedEvent, what func(number, language string) notice.Text) error {
	o, err := s.order(ctx, uuid.MustParse(r.Stream.ID))
	if err != nil {
		return err
	}
	users, err := s.tables.For(projections.System).Superusers(ctx)
	if err != nil {
		return err
	}
	for _, u := range users {
		if err := s.tell(ctx, r, u.ID, what(o.OrderNumber, u.Language), aboutOrder(o)); err != nil {
			return err
		}
	}
	return nil
}

func aboutOrder(o projections.Order) map[string]string {
	return map[string]string{"order_id": o.ID.String()}
}

// tellReuse warns a user that somebody else may have had a token of theirs.
func (s *Panel) tellReuse(ctx context.Context, r eventstore.RecordedEvent) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil || id == 0 {
		return err // nobody is known under 0
	}
	user, err := s.tables.For(projections.System).User(ctx, id)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, id, notice.TokenReused(user.Language), nil)
}

// tell tells a user of an event, in the panel, by mail or both, as they want to
// hear of it. The id of the notification follows from the event and the user,
// so nobody is told twice (rule W-7).
func (s *Panel) tell(ctx context.Context, r eventstore.RecordedEvent, user int64, text notice.Text, about map[string]string) error {
	if user == 0 {
		return nil
	}
	wishes, err := s.preferences(ctx, user)
	if err != nil {
		return err
	}
	id := uuid.NewSHA1(r.ID, fmt.Appendf(nil, "notification/%d", user))
	raise := notice.Raise{
		ID: id, User: user, At: r.RecordedAt, Metadata: about, Text: text, InApp: wishes.InApp, Mail: wishes.Mails(text.Type) && s.isFresh(r),
	}
	if raise.Mail {
		if raise.Tenant, err = s.sender(ctx, r, user, text); err != nil {
			return err
		}
	}
	cause := domain.Metadata{
		ID: uuid.NewSHA1(id, []byte("raise")), Actor: "system:reactions", Correlation: r.Metadata.Correlation, Causation: r.ID, Saga: r.Metadata.Saga,
	}
	if _, err = s.store.Execute(ctx, cause, raise); err == nil && raise.Mail {
		s.Wake(newsQueue)
	}
	return err
}

// freshness is for how long something is news that one gets by mail. Whoever
// reads the log anew mails nothing of old.
const freshness = 3 * day

func (s *Panel) isFresh(r eventstore.RecordedEvent) bool {
	return s.Now().Sub(r.RecordedAt) < freshness
}

// sender is the tenant in whose name a user is told: that which the event is
// about, or else the user's own; 0: the panel's, as operators are.
func (s *Panel) sender(ctx context.Context, r eventstore.RecordedEvent, user int64, text notice.Text) (int64, error) {
	switch {
	case text.ToOperators():
		return 0, nil
	case r.Tenant != 0:
		return r.Tenant, nil
	}
	u, err := s.tables.For(projections.System).User(ctx, user)
	return home(u), unlessMissing(err)
}
