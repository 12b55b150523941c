package notices

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// toldOf are the events that users may be told of, and those that end waits for it.
var toldOf = []domain.Event{
	billing.InvoiceIssued{},
	billing.InvoicePartPaid{},
	billing.PaymentBooked{},
	billing.CreditReturned{},
	billing.CreditPaidOut{},
	billing.BookingReversed{},
	billing.PeriodInvoiced{},
	billing.PaymentReminded{},
	billing.PaymentOverdue{},
	billing.ChargeFailed{},
	billing.PaymentMethodSaved{},
	billing.SubscriptionSuspended{},
	billing.EndAnnounced{},
	billing.PeriodRenewed{},
	billing.CancellationRequested{},
	billing.SubscriptionEnded{},
	billing.ChangeInvoiced{},
	billing.ChangePlanned{},
	billing.ChangeWithdrawn{},
	billing.ChangeDropped{},
	billing.PlanChanged{},
	order.RefundCompleted{},
	order.PartiallyRefunded{},
	hosting.CertificateIssued{},
	hosting.CertificateFailed{},
	hosting.CertificateExpiring{},
	hosting.EngineConfirmed{},
	hosting.EngineRefused{},
	hosting.Changed{},
	hosting.OperationSucceeded{},
	webhook.EndpointDisabled{},
	order.Placed{},
	order.Activated{},
	order.CompensationStarted{},
	order.ProvisioningParked{},
	order.PaymentMismatchFound{},
	order.DisputeOpened{},
	account.TokenReused{},
	account.SecondFactorEnabled{},
	account.SecondFactorDisabled{},
	account.RecoveryCodesRenewed{},
	operations.IncidentReported{},
}

// react tells users of an event of the log.
func (n *Notifier) react(ctx context.Context, r eventstore.RecordedEvent) error {
	if err := n.tellTenant(ctx, r); err != nil {
		return err
	}
	if err := (billingNews{n}).react(ctx, r); err != nil {
		return err
	}
	if err := (billingNews{n}).reactToChange(ctx, r); err != nil {
		return err
	}
	if err := (billingNews{n}).reactToCredit(ctx, r); err != nil {
		return err
	}
	switch e := r.Event.(type) {
	case order.Placed:
		return joiningOffer{n}.offerJoining(ctx, r, e)
	case order.Activated:
		return n.tellActivated(ctx, r)
	case order.CompensationStarted: // no welcome mail is to come
		return n.runner.EndWaits(ctx, r.Stream)
	case order.ProvisioningParked:
		return n.tellOperatorsOfOrder(ctx, r, func(id uuid.UUID, number, language string) notice.Text {
			return notice.OrderParked(id, number, e.Step, e.Code, language)
		})
	case order.PaymentMismatchFound:
		return n.tellOperatorsOfOrder(ctx, r, func(id uuid.UUID, number, language string) notice.Text {
			return notice.PaymentMismatch(id, number, e.Differs, language)
		})
	case order.DisputeOpened:
		claimed := money.Format(e.Dispute.Minor, e.Dispute.Currency)
		return n.tellOperatorsOfOrder(ctx, r, func(id uuid.UUID, number, language string) notice.Text {
			return notice.PaymentDisputed(id, number, claimed, language)
		})
	case account.TokenReused:
		return n.tellOwner(ctx, r, notice.TokenReused)
	case account.SecondFactorEnabled:
		return n.tellOwner(ctx, r, notice.SecondFactorOn)
	case account.SecondFactorDisabled:
		return n.tellOwner(ctx, r, notice.SecondFactorOff)
	case account.RecoveryCodesRenewed:
		return n.tellOwner(ctx, r, notice.CodesRenewed)
	case operations.IncidentReported:
		return n.tellIncident(ctx, r, e)
	}
	return nil
}

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
