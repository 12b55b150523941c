package sagas

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// Which facts tenants' own programs hear of, and as what (docs/webhooks.md,
// "Events"). What is said is thin: whoever wants more reads the record.

// announcements say what a fact is told as, by its name. What begins with a
// star is told of each kind of hosting record that tenants manage.
var announcements = map[string]announcement{
	hosting.Requested{}.EventName():           {"*.created", (*Sagas).aboutRecord, nil},
	hosting.Changed{}.EventName():             {"*.updated", (*Sagas).aboutRecord, nil},
	hosting.Trashed{}.EventName():             {"*.updated", (*Sagas).aboutRecord, nil},
	hosting.Restored{}.EventName():            {"*.updated", (*Sagas).aboutRecord, nil},
	hosting.Confirmed{}.EventName():           {"*.active", (*Sagas).aboutRecord, (*Sagas).hasBecomeActive},
	hosting.EngineRefused{}.EventName():       {"*.failed", (*Sagas).aboutRecord, nil},
	hosting.Removed{}.EventName():             {"*.deleted", (*Sagas).aboutRecord, nil},
	hosting.CertificateIssued{}.EventName():   {"certificate.issued", (*Sagas).aboutRecord, nil},
	hosting.CertificateFailed{}.EventName():   {"certificate.failed", (*Sagas).aboutRecord, nil},
	hosting.CertificateExpiring{}.EventName(): {"certificate.expiring", (*Sagas).aboutRecord, nil},
	order.Activated{}.EventName():             {"order.active", (*Sagas).aboutOrderOf, nil},
	order.RefundCompleted{}.EventName():       {"order.refunded", (*Sagas).aboutOrderOf, nil},
	order.Cancelled{}.EventName():             {"order.cancelled", (*Sagas).aboutOrderOf, nil},
	billing.InvoiceIssued{}.EventName():       {"invoice.created", (*Sagas).aboutInvoice, nil},
	billing.CreditNoteIssued{}.EventName():    {"credit_note.created", (*Sagas).aboutCreditNote, nil},
}

// suspensions is what a change of a tenant's status is told as.
var suspensions = map[string]string{hosting.Suspended: "tenant.suspended", hosting.InService: "tenant.reactivated"}

type announcement struct {
	as    string
	about func(*Sagas, context.Context, eventstore.Recorded) (webhook.Thing, error)
	when  func(*Sagas, context.Context, eventstore.Recorded) (bool, error) // asked if somebody listens; nil: always
}

// announce has those endpoints told of a fact that want to hear of it: each
// once, however often the fact comes by.
func (s *Sagas) announce(ctx context.Context, r eventstore.Recorded) error {
	a, told := announcements[r.Name]
	if !told || s.now().Sub(r.RecordedAt) > s.times.WebhookBudget {
		return nil // nobody has a use for what is long past
	}
	event, told := a.event(r)
	if !told {
		return nil
	}
	about, err := a.about(s, ctx, r)
	if err != nil || about.Tenant == 0 {
		return err
	}
	listening, err := s.listening(ctx, about.Tenant, event, r)
	if err != nil || len(listening) == 0 {
		return err
	}
	if a.when != nil {
		if so, err := a.when(s, ctx, r); err != nil || !so {
			return err
		}
	}
	return s.announceTo(ctx, r, listening, webhook.Message{
		ID: r.ID.String(), Type: event, At: r.RecordedAt, Tenant: about.Tenant, Data: about.Data(),
	})
}

// event is what a fact is told as; false: it is none of those.
func (a announcement) event(r eventstore.Recorded) (string, bool) {
	if e, changed := r.Event.(hosting.Changed); changed && r.Stream.Category == "tenant" {
		var status string
		_ = json.Unmarshal(e.Spec["status"], &status) // the change may be about something else
		event, told := suspensions[status]
		return event, told
	}
	event := strings.Replace(a.as, "*", r.Stream.Category, 1)
	return event, webhook.IsType(event)
}

// listening are the endpoints that want to hear of an event. Those that came
// after it do not: it would be news of the past.
func (s *Sagas) listening(ctx context.Context, tenant int64, event string, r eventstore.Recorded) (ids []int64, err error) {
	all, err := s.tables.For(projections.System).Listening(ctx, tenant)
	for _, e := range all {
		if e.Wants(event) && !e.CreatedAt.After(r.RecordedAt) {
			ids = append(ids, e.ID)
		}
	}
	return ids, err
}

func (s *Sagas) announceTo(ctx context.Context, r eventstore.Recorded, endpoints []int64, m webhook.Message) error {
	var commands []domain.Command
	for _, id := range endpoints {
		delivery := uuid.NewSHA1(r.ID, fmt.Appendf(nil, "webhook/%d", id))
		commands = append(commands, webhook.Request{ID: delivery, Endpoint: id, Tenant: m.Tenant, Message: m})
	}
	cause := domain.Cause{
		ID: uuid.NewSHA1(r.ID, []byte("announce")), Actor: "system:reactions", Correlation: r.Cause.Correlation, Causation: r.ID, Saga: r.Cause.Saga,
	}
	_, err := s.store.Execute(ctx, cause, commands...)
	return err
}

func (*Sagas) aboutRecord(_ context.Context, r eventstore.Recorded) (webhook.Thing, error) {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	kind, _ := hosting.KindNamed(r.Stream.Category)
	return webhook.Thing{Kind: kind.Name, ID: id, Tenant: r.Tenant, URL: "/hosting/api/rest/" + kind.Collection + "/" + r.Stream.ID + "/"}, nil
}

func (s *Sagas) aboutOrderOf(ctx context.Context, r eventstore.Recorded) (webhook.Thing, error) {
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	run, _, err := eventstore.Fold(ctx, s.store, Decider, StreamOf("provision:"+id.String()))
	return webhook.Thing{Kind: "order", OrderID: id.String(), Tenant: run.Job.Tenant, URL: orderPath(id)}, err
}

func orderPath(id uuid.UUID) string { return "/storefront/api/orders/" + id.String() + "/" }

func (*Sagas) aboutInvoice(_ context.Context, r eventstore.Recorded) (webhook.Thing, error) {
	e := r.Event.(billing.InvoiceIssued)
	return webhook.Thing{Kind: "invoice", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant, URL: orderPath(e.Order)}, nil
}

func (*Sagas) aboutCreditNote(_ context.Context, r eventstore.Recorded) (webhook.Thing, error) {
	e := r.Event.(billing.CreditNoteIssued)
	return webhook.Thing{Kind: "credit_note", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant, URL: orderPath(e.Order)}, nil
}

// hasBecomeActive tells whether a record is as it was asked for only since the
// engine's answer: engines repeat themselves.
func (s *Sagas) hasBecomeActive(ctx context.Context, r eventstore.Recorded) (bool, error) {
	history, err := s.store.ReadUntil(ctx, r.Stream, r.Version, time.Time{})
	var before, after hosting.Resource
	for _, fact := range history {
		if e, is := fact.Event.(hosting.Event); is {
			before, after = after, hosting.Decider.Evolve(after, e)
		}
	}
	return after.Status == hosting.Running && before.Status != hosting.Running, err
}
