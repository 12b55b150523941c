package assembly

import (
	"context"
	"fmt"
	"slices"
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
	hosting.Requested{}.EventName():           {"*.created", (*Panel).aboutRecord, nil},
	hosting.Changed{}.EventName():             {"*.updated", (*Panel).aboutRecord, nil},
	hosting.MovedToBin{}.EventName():          {"*.updated", (*Panel).aboutRecord, nil},
	hosting.Restored{}.EventName():            {"*.updated", (*Panel).aboutRecord, nil},
	hosting.EngineConfirmed{}.EventName():     {"*.active", (*Panel).aboutRecord, (*Panel).hasBecomeActive},
	hosting.EngineRefused{}.EventName():       {"*.failed", (*Panel).aboutRecord, nil},
	hosting.Removed{}.EventName():             {"*.deleted", (*Panel).aboutRecord, nil},
	hosting.CertificateIssued{}.EventName():   {"certificate.issued", (*Panel).aboutRecord, nil},
	hosting.CertificateFailed{}.EventName():   {"certificate.failed", (*Panel).aboutRecord, nil},
	hosting.CertificateExpiring{}.EventName(): {"certificate.expiring", (*Panel).aboutRecord, nil},
	order.Activated{}.EventName():             {"order.active", (*Panel).aboutOrderOf, nil},
	order.RefundCompleted{}.EventName():       {"order.refunded", (*Panel).aboutOrderOf, nil},
	order.Cancelled{}.EventName():             {"order.cancelled", (*Panel).aboutOrderOf, nil},
	billing.InvoiceIssued{}.EventName():       {"invoice.created", (*Panel).aboutInvoice, nil},
	billing.CreditNoteIssued{}.EventName():    {"credit_note.created", (*Panel).aboutCreditNote, nil},
}

// suspensions is what a change of a tenant's status is told as.
var suspensions = map[string]string{hosting.Suspended: "tenant.suspended", hosting.InService: "tenant.reactivated"}

type announcement struct {
	as    string
	about func(*Panel, context.Context, eventstore.RecordedEvent) (webhook.Thing, error)
	when  func(*Panel, context.Context, eventstore.RecordedEvent) (bool, error) // asked if somebody listens; nil: always
}

// announce has those endpoints told of a fact that want to hear of it: each
// once, however often the fact comes by.
func (s *Panel) announce(ctx context.Context, r eventstore.RecordedEvent) error {
	a, told := announcements[r.Name]
	if !told || s.Now().Sub(r.RecordedAt) > s.times.WebhookBudget {
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

var announced = hosting.Announced()

// event is what a fact is told as; false: it is none of those.
func (a announcement) event(r eventstore.RecordedEvent) (string, bool) {
	if e, changed := r.Event.(hosting.Changed); changed {
		if status, is := hosting.NewStatus(r.Stream, e); is {
			event, told := suspensions[status]
			return event, told
		}
	}
	event := strings.Replace(a.as, "*", r.Stream.Category, 1)
	return event, event == a.as || slices.Contains(announced, r.Stream.Category)
}

// listening are the endpoints that want to hear of an event. Those that came
// after it do not: it would be news of the past.
func (s *Panel) listening(ctx context.Context, tenant int64, event string, r eventstore.RecordedEvent) (ids []int64, err error) {
	all, err := s.tables.For(projections.System).Listening(ctx, tenant)
	for _, e := range all {
		if e.Wants(event) && !e.CreatedAt.After(r.RecordedAt) {
			ids = append(ids, e.ID)
		}
	}
	return ids, err
}

func (s *Panel) announceTo(ctx context.Context, r eventstore.RecordedEvent, endpoints []int64, m webhook.Message) error {
	var commands []domain.Command
	for _, id := range endpoints {
		delivery := uuid.NewSHA1(r.ID, fmt.Appendf(nil, "webhook/%d", id))
		commands = append(commands, webhook.Request{ID: delivery, Endpoint: id, Tenant: m.Tenant, Message: m})
	}
	cause := domain.Metadata{
		ID: uuid.NewSHA1(r.ID, []byte("announce")), Actor: "system:reactions", Correlation: r.Metadata.Correlation, Causation: r.ID, Saga: r.Metadata.Saga,
	}
	_, err := s.store.Execute(ctx, cause, commands...)
	return err
}

func (*Panel) aboutRecord(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	kind, _ := hosting.KindNamed(r.Stream.Category)
	return webhook.Thing{Kind: kind.Name, ID: id, Tenant: r.Tenant, URL: "/hosting/api/rest/" + kind.Collection + "/" + r.Stream.ID + "/"}, nil
}

func (s *Panel) aboutOrderOf(ctx context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	id, err := uuid.Parse(r.Stream.ID)
	if err != nil {
		return webhook.Thing{}, fmt.Errorf("announce %s: %w", r.Stream, err)
	}
	in, err := s.provisioned(ctx, id)
	return webhook.Thing{Kind: "order", OrderID: id.String(), Tenant: in.Tenant, URL: orderPath(id)}, unlessMissing(err)
}

func orderPath(id uuid.UUID) string { return "/storefront/api/orders/" + id.String() + "/" }

func (*Panel) aboutInvoice(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	e := r.Event.(billing.InvoiceIssued)
	return webhook.Thing{Kind: "invoice", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant, URL: orderPath(e.Order)}, nil
}

func (*Panel) aboutCreditNote(_ context.Context, r eventstore.RecordedEvent) (webhook.Thing, error) {
	e := r.Event.(billing.CreditNoteIssued)
	return webhook.Thing{Kind: "credit_note", OrderID: e.Order.String(), Number: e.Number(), Tenant: e.Tenant, URL: orderPath(e.Order)}, nil
}

// hasBecomeActive tells whether a record is as it was asked for only since the
// engine's answer: engines repeat themselves.
func (s *Panel) hasBecomeActive(ctx context.Context, r eventstore.RecordedEvent) (bool, error) {
	history, err := s.store.ReadUntil(ctx, r.Stream, r.Version, time.Time{})
	var before, after hosting.Resource
	for _, fact := range history {
		if e, is := fact.Event.(hosting.Event); is {
			before, after = after, hosting.Decider.Evolve(after, e)
		}
	}
	return after.Status == hosting.Running && before.Status != hosting.Running, err
}
