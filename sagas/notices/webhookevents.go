package notices

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// The events that endpoints of tenants may subscribe to (docs/webhooks.md,
// "Events"). A message names the record; a reader that needs more fetches it.

// webhookEvents are the messages by the name of the event that they follow from.
// The star stands for each kind of hosting record that tenants manage.
var webhookEvents = map[string]webhookEvent{
	hosting.Requested{}.EventName():           {"*.created", (*publisher).aboutRecord, nil},
	hosting.Changed{}.EventName():             {"*.updated", (*publisher).aboutRecord, nil},
	hosting.MovedToBin{}.EventName():          {"*.updated", (*publisher).aboutRecord, nil},
	hosting.Restored{}.EventName():            {"*.updated", (*publisher).aboutRecord, nil},
	hosting.EngineConfirmed{}.EventName():     {"*.active", (*publisher).aboutRecord, (*publisher).hasBecomeActive},
	hosting.EngineRefused{}.EventName():       {"*.failed", (*publisher).aboutRecord, nil},
	hosting.Removed{}.EventName():             {"*.deleted", (*publisher).aboutRecord, nil},
	hosting.CertificateIssued{}.EventName():   {"certificate.issued", (*publisher).aboutRecord, nil},
	hosting.CertificateFailed{}.EventName():   {"certificate.failed", (*publisher).aboutRecord, nil},
	hosting.CertificateExpiring{}.EventName(): {"certificate.expiring", (*publisher).aboutRecord, nil},
	hosting.TrafficReached{}.EventName():      {"vm.traffic", (*publisher).aboutMachine, nil},
	order.Activated{}.EventName():             {"order.active", (*publisher).aboutOrderOf, nil},
	order.RefundCompleted{}.EventName():       {"order.refunded", (*publisher).aboutOrderOf, nil},
	order.Cancelled{}.EventName():             {"order.cancelled", (*publisher).aboutOrderOf, nil},
	billing.InvoiceIssued{}.EventName():       {"invoice.created", (*publisher).aboutInvoice, nil},
	billing.InvoicePaid{}.EventName():         {"invoice.paid", (*publisher).aboutPaidInvoice, nil},
	billing.InvoicePartPaid{}.EventName():     {"invoice.part_paid", (*publisher).aboutPaidInvoice, nil},
	billing.CreditNoteIssued{}.EventName():    {"credit_note.created", (*publisher).aboutCreditNote, nil},

	billing.PeriodRenewed{}.EventName():         {"subscription.renewed", (*publisher).aboutSubscription, nil},
	billing.PaymentOverdue{}.EventName():        {"subscription.past_due", (*publisher).aboutSubscription, nil},
	billing.ChargeFailed{}.EventName():          {"subscription.past_due", (*publisher).aboutSubscription, (*publisher).isFirstCharge},
	billing.SubscriptionSuspended{}.EventName(): {"subscription.suspended", (*publisher).aboutSubscription, nil},
	billing.ChangePlanned{}.EventName():         {"subscription.change_planned", (*publisher).aboutSubscription, nil},
	billing.PlanChanged{}.EventName():           {"subscription.changed", (*publisher).aboutSubscription, nil},
	billing.CancellationRequested{}.EventName(): {"subscription.cancelled", (*publisher).aboutSubscription, nil},
	billing.SubscriptionEnded{}.EventName():     {"subscription.ended", (*publisher).aboutSubscription, nil},
}

// statusEvents are the messages about the status of a tenant.
var statusEvents = map[string]string{hosting.Suspended: "tenant.suspended", hosting.InService: "tenant.reactivated"}

type webhookEvent struct {
	name  string
	about func(*publisher, context.Context, eventstore.RecordedEvent) (webhook.Thing, error)
	when  func(*publisher, context.Context, eventstore.RecordedEvent) (bool, error) // asked if an endpoint subscribes; nil: always
}

// isFirstCharge tells whether the first charge of an invoice was refused, which makes its
// subscription overdue.
func (*publisher) isFirstCharge(_ context.Context, r eventstore.RecordedEvent) (bool, error) {
	return r.Event.(billing.ChargeFailed).First(), nil
}

// react requests the messages about an event, and removes the endpoints of a
// tenant that is removed.
func (p *publisher) react(ctx context.Context, r eventstore.RecordedEvent) error {
	if err := p.sendToEndpoints(ctx, r); err != nil {
		return err
	}
	if _, removed := r.Event.(hosting.Removed); removed {
		return p.removeEndpoints(ctx, r)
	}
	return nil
}

// sendToEndpoints requests a message to each endpoint that subscribes to an
// event. The ids of deliveries follow from the event, so each is made once.
func (p *publisher) sendToEndpoints(ctx context.Context, r eventstore.RecordedEvent) error {
	a, told := webhookEvents[r.Name]
	if !told || p.runner.Now().Sub(r.RecordedAt) > p.times.WebhookBudget {
		return nil // its time is over
	}
	event, told := a.of(r)
	if !told {
		return nil
	}
	about, err := a.about(p, ctx, r)
	if err != nil || about.Tenant == 0 {
		return err
	}
	endpoints, err := p.subscribed(ctx, about.Tenant, event, r)
	if err != nil || len(endpoints) == 0 {
		return err
	}
	if a.when != nil {
		if so, err := a.when(p, ctx, r); err != nil || !so {
			return err
		}
	}
	return p.requestDeliveries(ctx, r, endpoints, webhook.Message{
		ID: r.ID.String(), Type: event, At: r.RecordedAt, Tenant: about.Tenant, Data: about.Data(),
	})
}

var announcedKinds = hosting.Announced()

// of is the name of the message about an event; false: there is none.
func (a webhookEvent) of(r eventstore.RecordedEvent) (string, bool) {
	if e, changed := r.Event.(hosting.Changed); changed {
		if status, is := hosting.NewStatus(r.Stream, e); is {
			event, told := statusEvents[status]
			return event, told
		}
	}
	event := strings.Replace(a.name, "*", r.Stream.Category, 1)
	return event, event == a.name || slices.Contains(announcedKinds, r.Stream.Category)
}

// subscribed are the endpoints of a tenant that subscribe to an event. An
// endpoint that was opened after it gets no message.
func (p *publisher) subscribed(ctx context.Context, tenant int64, event string, r eventstore.RecordedEvent) (ids []int64, err error) {
	all, err := p.tables.For(projections.System).Notices().Listening(ctx, tenant)
	for _, e := range all {
		if e.Wants(event) && !e.CreatedAt.After(r.RecordedAt) {
			ids = append(ids, e.ID)
		}
	}
	return ids, err
}

func (p *publisher) requestDeliveries(ctx context.Context, r eventstore.RecordedEvent, endpoints []int64, m webhook.Message) error {
	var commands []domain.Command
	for _, id := range endpoints {
		delivery := uuid.NewSHA1(r.ID, fmt.Appendf(nil, "webhook/%d", id))
		commands = append(commands, webhook.Request{ID: delivery, Endpoint: id, Tenant: m.Tenant, Message: m})
	}
	_, err := p.store.Execute(ctx, reactionTo(r, uuid.NewSHA1(r.ID, []byte("announce"))), commands...)
	return err
}

func (*publisher) aboutRecord(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	kind, _ := hosting.KindNamed(r.Stream.Category)
	return webhook.Thing{
		Kind: kind.Name, ID: id, Tenant: r.Tenant,
		URL: "/hosting/api/rest/" + kind.Collection + "/" + r.Stream.ID + "/",
	}, nil
}

// aboutMachine is the usage of a machine, which stands at its service.
func (p *publisher) aboutMachine(ctx context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	ref := hosting.RefOf(r.Stream)
	found, err := p.tables.For(projections.System).Hosting().Recorded(ctx, ref)
	row, known := found[ref]
	if err != nil || !known {
		return webhook.Thing{}, err
	}
	service := strings.TrimPrefix(row.RequestedFor, "order:")
	return webhook.Thing{
		Kind: ref.Kind, ID: ref.ID, Tenant: r.Tenant, OrderID: service, URL: billingAPI + "services/" + service + "/vm/usage/",
	}, nil
}

func (p *publisher) aboutOrderOf(ctx context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	to, err := p.customer(ctx, id)
	return webhook.Thing{Kind: "order", OrderID: id.String(), Tenant: to.Tenant, URL: orderPath(id)}, unlessMissing(err)
}

func orderPath(id uuid.UUID) string { return "/storefront/api/orders/" + id.String() + "/" }

const billingAPI = "/billing/api/v1/"

func (*publisher) aboutInvoice(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	e := r.Event.(billing.InvoiceIssued)
	return webhook.Thing{
		Kind: "invoice", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant,
		URL: billingAPI + "invoices/" + r.Stream.ID + "/",
	}, nil
}

func (p *publisher) aboutPaidInvoice(ctx context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	i, err := p.tables.For(projections.System).Billing().Invoice(ctx, id)
	return webhook.Thing{
		Kind: "invoice", OrderID: i.OrderID.String(), Number: i.Number, Tenant: i.Tenant,
		URL: billingAPI + "invoices/" + r.Stream.ID + "/",
	}, err
}

func (*publisher) aboutCreditNote(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	e := r.Event.(billing.CreditNoteIssued)
	return webhook.Thing{
		Kind: "credit_note", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant,
		URL: billingAPI + "credit-notes/" + r.ID.String() + "/",
	}, nil
}

func (*publisher) aboutSubscription(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	return webhook.Thing{
		Kind: "subscription", OrderID: r.Stream.ID, Tenant: r.Tenant,
		URL: billingAPI + "subscriptions/" + r.Stream.ID + "/",
	}, nil
}

// hasBecomeActive tells whether a record was not active before this answer of the
// engine. Engines repeat their answers.
func (p *publisher) hasBecomeActive(ctx context.Context, r eventstore.RecordedEvent) (bool, error) {
	history, err := p.store.Reader().ReadUntil(ctx, r.Stream, r.Version, time.Time{})
	var before, after hosting.Resource
	for _, earlier := range history {
		if e, is := earlier.Event.(hosting.Event); is {
			before, after = after, hosting.Decider.Evolve(after, e)
		}
	}
	return after.Status == hosting.Running && before.Status != hosting.Running, err
}
