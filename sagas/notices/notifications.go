package notices

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

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

// Customers are told of their orders and machines, and the administrators of a
// tenant of its records (docs/notifications.md, "Who is told what").

// inLanguage is the text of a notification in the language of its reader.
type inLanguage func(language string) notice.Text

// tellTenant notifies the customers and administrators whom an event concerns.
func (n *Notifier) tellTenant(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case billing.InvoiceIssued:
		if e.Status == billing.Open {
			return nil // its subscription tells
		}
		return n.tellBuyer(ctx, r, e.Order, notice.InvoiceCreated)
	case order.RefundCompleted, order.PartiallyRefunded:
		return n.tellBuyer(ctx, r, uuid.MustParse(r.Stream.ID), notice.RefundDone)
	case hosting.CertificateIssued:
		return n.tellOfResource(ctx, r, notice.CertificateIssued)
	case hosting.CertificateFailed:
		return n.tellOfResource(ctx, r, notice.CertificateFailed)
	case hosting.CertificateExpiring:
		return n.tellOfResource(ctx, r, func(_, domain, language string) notice.Text {
			return notice.CertificateExpiring(domain, daysUntil(r.RecordedAt, e.Ends), language)
		})
	case hosting.EngineConfirmed:
		return n.tellOfMachine(ctx, r, notice.MachineReady)
	case hosting.EngineRefused:
		return tellOfRefusal(ctx, n, r)
	case hosting.Changed:
		return n.tellOfSuspension(ctx, r, e)
	case hosting.TrafficReached:
		return tellOfTraffic(ctx, n, r, e)
	case hosting.OperationSucceeded:
		return n.tellOfInstallation(ctx, r)
	case webhook.EndpointDisabled:
		return n.tellOfEndpoint(ctx, r)
	}
	return nil
}

// tellActivated notifies the customer that the order runs, in the language of
// the order. Of one that has paid an invoice its subscription tells.
func (n *Notifier) tellActivated(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	o, err := n.order(ctx, id)
	if err != nil || o.Invoice != nil {
		return err
	}
	return n.tellCustomer(ctx, r, o, notice.OrderActive(o.ResourceType, o.OrderNumber, o.PlanName, o.Language).At(notice.ServicePage(id)))
}

// tellBuyer notifies the customer of an order of something that its number
// names.
func (n *Notifier) tellBuyer(
	ctx context.Context, r eventstore.RecordedEvent, id uuid.UUID, what func(number, language string) notice.Text,
) error {
	o, err := n.order(ctx, id)
	if err != nil {
		return err
	}
	return n.tellCustomer(ctx, r, o, what(o.OrderNumber, o.Language))
}

// tellCustomer notifies the user for whom an order was set up. An order that
// was not set up has none.
func (n *Notifier) tellCustomer(ctx context.Context, r eventstore.RecordedEvent, o projections.Order, text notice.Text) error {
	id, err := billingNews{n}.bought(ctx, o)
	if err != nil {
		return err
	}
	to, err := n.customer(ctx, id)
	if err := unlessMissing(err); err != nil {
		return err
	}
	return n.tell(ctx, r, to.User, text, aboutOrder(o))
}

func (n *Notifier) order(ctx context.Context, id uuid.UUID) (projections.Order, error) {
	return n.tables.For(projections.System).Orders().OrderForRun(ctx, id)
}

func aboutOrder(o projections.Order) map[string]string {
	return map[string]string{"order_id": o.ID.String()}
}

// tellOwner notifies a user of what has happened to the user's account. An account that is
// gone by now has no reader.
func (n *Notifier) tellOwner(ctx context.Context, r eventstore.RecordedEvent, what inLanguage) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil || id == 0 {
		return err // 0 is no user
	}
	user, err := n.tables.For(projections.System).Accounts().User(ctx, id)
	if err != nil {
		return unlessMissing(err)
	}
	return n.tell(ctx, r, id, what(user.Language), nil)
}

// tellOfMachine notifies the customer of the first event of its kind: a machine
// that starts again is not announced, and neither is one whose order is still set up.
func (n *Notifier) tellOfMachine(ctx context.Context, r eventstore.RecordedEvent, what func(number, language string) notice.Text) error {
	if !isMachine(r) {
		return nil
	}
	history, err := n.store.Reader().ReadStreams(ctx, r.Version, r.Stream)
	if err != nil {
		return err
	}
	var bought string
	for _, earlier := range history {
		if e, is := earlier.Event.(hosting.Requested); is {
			bought = e.For
		}
		if earlier.Version < r.Version && earlier.Name == r.Name {
			return nil
		}
	}
	id, err := uuid.Parse(strings.TrimPrefix(bought, "order:"))
	if err != nil {
		return nil //nolint:nilerr // it was not ordered
	}
	if _, isReady := r.Event.(hosting.EngineConfirmed); isReady {
		active, err := wasActive(ctx, n.store.Reader(), id, r.Position)
		if err != nil || !active {
			return err // the order says it, once it is active
		}
	}
	return n.tellBuyer(ctx, r, id, func(number, language string) notice.Text { return what(number, language).At(notice.ServicePage(id)) })
}

// wasActive tells whether an order was active at a position of the log.
func wasActive(ctx context.Context, log *eventstore.Reader, id uuid.UUID, position int64) (bool, error) {
	history, err := log.Read(ctx, order.Stream(id))
	return slices.ContainsFunc(history, func(r eventstore.RecordedEvent) bool {
		_, is := r.Event.(order.Activated)
		return is && r.Position < position
	}), err
}

// tellOfResource notifies the administrators of a tenant of one of its
// resources. A resource that is gone by now is not mentioned.
func (n *Notifier) tellOfResource(
	ctx context.Context, r eventstore.RecordedEvent, what func(noun, name, language string) notice.Text,
) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return err
	}
	ref := hosting.Ref{Kind: r.Stream.Category, ID: id}
	kind, _ := hosting.KindOf(r.Stream)
	page := kind.Page(id)
	row, err := n.tables.For(projections.System).Hosting().Resource(ctx, ref)
	if err != nil {
		return unlessMissing(err)
	}
	return n.tellAdmins(ctx, r, func(language string) notice.Text { return what(kind.Noun(language), called(row), language).At(page) },
		map[string]string{ref.Kind + "_id": r.Stream.ID})
}

// tellOfEndpoint notifies the administrators of a tenant that one of its endpoints was
// switched off.
func (n *Notifier) tellOfEndpoint(ctx context.Context, r eventstore.RecordedEvent) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return err
	}
	page := hosting.RecordPage(webhook.EndpointCollection, id)
	return n.tellAdmins(ctx, r, func(language string) notice.Text { return notice.WebhookDisabled(r.Stream.ID, language).At(page) },
		map[string]string{"webhook_endpoint_id": r.Stream.ID})
}

// daysUntil counts the days that are left, of which the last has begun.
func daysUntil(now, then time.Time) int { return int((then.Sub(now) + day - 1) / day) }

// called is how people know a resource: a domain, or its number. Other names
// may be those of persons.
func called(row projections.Resource) string {
	for _, name := range []string{"domain", "origin"} {
		var text string
		if json.Unmarshal(row.Spec[name], &text) == nil && text != "" {
			return text
		}
	}
	return strconv.FormatInt(row.ID, 10)
}

// tellOfSuspension notifies the administrators of a tenant that it is suspended
// or active again.
func (n *Notifier) tellOfSuspension(ctx context.Context, r eventstore.RecordedEvent, e hosting.Changed) error {
	status, _ := hosting.NewStatus(r.Stream, e) // the change may be about something else
	about := map[string]string{"tenant_id": r.Stream.ID}
	switch status {
	case hosting.Suspended:
		return n.tellAdmins(ctx, r, notice.TenantSuspended, about)
	case hosting.InService:
		return n.tellAdmins(ctx, r, notice.TenantReactivated, about)
	}
	return nil
}

// tellOfInstallation notifies the administrators of a tenant that a program was
// installed in a site.
func (n *Notifier) tellOfInstallation(ctx context.Context, r eventstore.RecordedEvent) error {
	o, _, err := eventstore.Fold(ctx, n.store, hosting.Operations, r.Stream)
	if err != nil || o.Kind != hosting.InstallCMS {
		return err
	}
	row, err := n.tables.For(projections.System).Hosting().Resource(ctx, o.About())
	if err != nil {
		return unlessMissing(err)
	}
	kind, _ := hosting.KindNamed(o.About().Kind)
	return n.tellAdmins(ctx, r, func(language string) notice.Text {
		return notice.Installed(called(row), language).At(kind.Page(row.ID))
	},
		map[string]string{"site_id": strconv.FormatInt(o.About().ID, 10), "operation_id": r.Stream.ID})
}

// tellAdmins notifies the administrators of the event's tenant, each in their
// own language.
func (n *Notifier) tellAdmins(ctx context.Context, r eventstore.RecordedEvent, what inLanguage, about map[string]string) error {
	if r.Tenant == 0 {
		return nil
	}
	scope := n.tables.For(projections.System)
	members, err := scope.Accounts().Members(ctx, r.Tenant)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Role != account.Admin {
			continue
		}
		u, err := scope.Accounts().User(ctx, m.UserID)
		if err != nil {
			return err
		}
		if err := n.tell(ctx, r, u.ID, what(u.Language), about); err != nil {
			return err
		}
	}
	return nil
}

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
	hosting.TrafficReached{},
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
