package billing

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// save records the payment method that an order was paid with, if its customer has agreed,
// once there is a subscription. Its renewals are charged by it.
func (s *Service) save(ctx context.Context, r eventstore.RecordedEvent, id uuid.UUID) error {
	history, err := s.Store.Read(ctx, order.Stream(id))
	if err != nil {
		return err
	}
	var o order.Order
	var kept *order.PaymentMethodKept
	for _, e := range history {
		if k, is := e.Event.(order.PaymentMethodKept); is {
			kept = &k
		}
		o = order.Decider.Evolve(o, e.Event.(order.Event)) //nolint:forcetypeassert // of the stream of an order
	}
	if kept == nil {
		return nil
	}
	bought := id
	if o.PaysInvoice() {
		i, _, err := eventstore.Fold(ctx, s.Store, billing.Invoices, billing.Pay{ID: o.Invoice}.Stream())
		if err != nil {
			return err
		}
		bought = i.Order
	}
	sub, _, err := eventstore.Fold(ctx, s.Store, billing.Subscriptions, billing.Advance{Order: bought}.Stream())
	if err != nil || sub.Status == "" {
		return err
	}
	now, method := s.Runner.Now(), uuid.NewSHA1(id, []byte("payment method"))
	commands := []domain.Command{billing.SaveMethod{ID: method, Tenant: sub.Tenant, At: now, Kept: billing.KeptMethod{
		SubjectID: kept.SubjectID, Order: id, Provider: o.Provider, Customer: kept.Customer, Token: kept.Token,
		Kind: kept.Kind, Brand: kept.Brand, Last4: kept.Last4, Expires: kept.Expires,
	}}}
	if sub.Status != billing.Over {
		commands = append(commands, billing.ChooseMethod{Order: bought, Method: method, At: now, Terms: s.Terms})
	}
	return s.follow(ctx, r, "save", commands...)
}

// methodRemoved takes a payment method out of the subscriptions that it was charged for.
func (s *Service) methodRemoved(ctx context.Context, r eventstore.RecordedEvent) error {
	charged, err := s.Tables.For(projections.System).Billing().ChargedBy(ctx, uuid.MustParse(r.Stream.ID))
	var commands []domain.Command
	for _, sub := range charged {
		if sub.Status != billing.Over {
			commands = append(commands, billing.ChooseMethod{Order: sub.OrderID, At: s.Runner.Now(), Terms: s.Terms})
		}
	}
	if err != nil || len(commands) == 0 {
		return err
	}
	return s.follow(ctx, r, "removed", commands...)
}

// removeMethodsOf ends the payment methods of people who were erased, or have left a
// tenant; tenant 0: those in all tenants.
func (s *Service) removeMethodsOf(
	ctx context.Context, r eventstore.RecordedEvent, reason string, tenant int64, subjects ...uuid.UUID,
) error {
	if err := s.endSetupsOf(ctx, r, reason, tenant, subjects...); err != nil {
		return err
	}
	methods, err := s.Tables.For(projections.System).Billing().PaymentMethodsOf(ctx, tenant, subjects...)
	var commands []domain.Command
	for _, m := range methods {
		commands = append(commands, billing.RemoveMethod{ID: m.ID, Reason: reason, At: s.Runner.Now()})
	}
	if err != nil || len(commands) == 0 {
		return err
	}
	return s.follow(ctx, r, "remove methods", commands...)
}

// endSetupsOf ends what the same people have begun to add. It comes first: what was saved
// by then is among the methods that end.
func (s *Service) endSetupsOf(ctx context.Context, r eventstore.RecordedEvent, reason string, tenant int64, subjects ...uuid.UUID) error {
	open, err := s.Tables.For(projections.System).Billing().OpenMethodSetupsOf(ctx, tenant, subjects...)
	var commands []domain.Command
	for _, m := range open {
		commands = append(commands, billing.EndSetup{ID: m.ID, Reason: reason, At: s.Runner.Now()})
	}
	if err != nil || len(commands) == 0 {
		return err
	}
	return s.follow(ctx, r, "end setups", commands...)
}

// leftTenant ends the payment methods of a user who has left a tenant. One whose address
// has changed has several subjects.
func (s *Service) leftTenant(ctx context.Context, r eventstore.RecordedEvent, tenant int64) error {
	history, err := s.Store.Read(ctx, r.Stream)
	var subjects []uuid.UUID
	for _, e := range history {
		subjects = append(subjects, e.Subjects...)
	}
	slices.SortFunc(subjects, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	if err != nil {
		return err
	}
	return s.removeMethodsOf(ctx, r, billing.MembershipEnded, tenant, slices.Compact(subjects)...)
}

// ChooseMethod says which saved payment method the renewals of a subscription are charged
// by; zero: none.
func (s *Service) ChooseMethod(ctx context.Context, cause domain.Metadata, subscription, method uuid.UUID) error {
	_, err := s.Store.Execute(ctx, cause, billing.ChooseMethod{Order: subscription, Method: method, At: s.Runner.Now(), Terms: s.Terms})
	return err
}

// RemoveMethod ends a saved payment method. Its provider is told to keep it no longer.
func (s *Service) RemoveMethod(ctx context.Context, cause domain.Metadata, method uuid.UUID) error {
	_, err := s.Store.Execute(ctx, cause, billing.RemoveMethod{ID: method, Reason: billing.RemovedByOwner, At: s.Runner.Now()})
	return err
}
