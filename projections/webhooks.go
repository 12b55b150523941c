package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
)

// webhooks is where tenants' own programs are told of what happens, and what
// became of each message (docs/webhooks.md). A tenant has few endpoints: too
// many break the condition of a table that never has a row, under the lock of
// the log's writers.
var webhooks = New("webhooks", `
	create table webhook_endpoints (
		id         bigint  primary key,
		tenant     bigint  not null,
		url        text    not null, -- may hold a token of the tenant's
		events     text[]  not null,
		is_active  boolean not null,
		disabled   text    not null default '', -- why it is off, if we have switched it off
		created_at timestamptz not null,
		updated_at timestamptz not null,
		version    int     not null -- of the endpoint's stream
	);
	create index webhook_endpoints_newest on webhook_endpoints (created_at desc, id desc);
	create index webhook_endpoints_of_tenant on webhook_endpoints (tenant, created_at desc, id desc);
	create table webhook_crowd (crowd bigint, constraint webhook_crowd_of_endpoints check (crowd is null));

	create table webhook_deliveries (
		id              uuid   primary key,
		endpoint        bigint not null,
		tenant          bigint not null,
		event_id        text   not null, -- webhook-id
		event_type      text   not null,
		status          text   not null, -- pending, delivered, failed
		attempts        int    not null default 0,
		response_status int,             -- of the last answer; null: there was none
		error           text   not null default '', -- code of the last failure
		next_attempt_at timestamptz,     -- null: it is over, or not known
		created_at      timestamptz not null,
		updated_at      timestamptz not null,
		delivered_at    timestamptz,
		version         int    not null -- of the delivery's stream
	) with (fillfactor = 80);
	create index webhook_deliveries_newest on webhook_deliveries (endpoint, created_at desc, id desc);
	create index webhook_deliveries_oldest on webhook_deliveries (created_at);
	create unique index webhook_deliveries_test on webhook_deliveries (endpoint) where event_type = 'endpoint.test' and status = 'pending'`,

	On(func(at eventstore.RecordedEvent, e webhook.EndpointCreated) Change {
		return insert("webhook_endpoints", Row{
			{"id", at.Stream.ID},
			{"tenant", e.Tenant},
			{"url", e.URL},
			{"events", e.Events},
			{"is_active", e.IsActive},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	Rule(`insert into webhook_crowd (crowd) select $1 where (select count(*) from webhook_endpoints where tenant = $1) > $2`,
		func(_ eventstore.RecordedEvent, e webhook.EndpointCreated) []any {
			return []any{e.Tenant, webhook.MaxEndpoints}
		}).
		Unique("webhook_crowd_of_endpoints", hosting.LimitReached("webhook_endpoints", webhook.MaxEndpoints, webhook.MaxEndpoints)),
	endpointChange(endpointChanged),
	endpointChange(func(webhook.SecretRotated) Row { return nil }),
	endpointChange(func(e webhook.EndpointDisabled) Row { return Row{{"is_active", false}, {"disabled", e.Reason}} }),
	On(func(at eventstore.RecordedEvent, _ webhook.EndpointRemoved) Change {
		return remove("webhook_endpoints", its(at))
	}),

	On(func(at eventstore.RecordedEvent, e webhook.DeliveryRequested) Change {
		return insert("webhook_deliveries", Row{
			{"id", at.Stream.ID},
			{"endpoint", e.Endpoint},
			{"tenant", e.Tenant},
			{"event_id", e.Message.ID},
			{"event_type", e.Message.Type},
			{"status", "pending"},
			{"next_attempt_at", now},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}).Unique("webhook_deliveries_test", busy("A test message is already on its way.")),
	deliveryChange(func(e webhook.DeliveryAttempted) Row {
		return Row{
			{"attempts", plus("attempts", 1)},
			{"response_status", domain.OrNull(e.Status)},
			{"error", e.Code},
			{"next_attempt_at", orNever(e.NextAt)},
		}
	}),
	deliveryChange(func(e webhook.Delivered) Row {
		return Row{
			{"status", "delivered"},
			{"attempts", plus("attempts", 1)},
			{"response_status", domain.OrNull(e.Status)},
			{"error", ""},
			{"next_attempt_at", nil},
			{"delivered_at", now},
		}
	}),
	deliveryChange(func(e webhook.DeliveryFailed) Row {
		return Row{{"status", "failed"}, {"error", e.Code}, {"next_attempt_at", nil}}
	}),
	deliveryChange(func(webhook.RedeliveryRequested) Row { return Row{{"status", "pending"}, {"next_attempt_at", now}} }).
		Unique("webhook_deliveries_test", busy("A test message is already on its way.")),
).
	ReadBy("webhook_endpoints", operators, ofTenant("tenant")).
	ReadBy("webhook_deliveries", operators, ofTenant("tenant"))

// endpointChange and deliveryChange are what an event does to the row of its endpoint, or
// of its delivery.
func endpointChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("webhook_endpoints", its(at), changed(at, set(e)))
	})
}

func deliveryChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("webhook_deliveries", its(at), changed(at, set(e)))
	})
}

// endpointChanged is what was sent. An address that was erased changes nothing.
func endpointChanged(e webhook.EndpointChanged) (set Row) {
	if e.URL != "" {
		set = append(set, Column{"url", e.URL})
	}
	if e.Events != nil {
		set = append(set, Column{"events", e.Events})
	}
	if e.IsActive != nil {
		set = append(set, Column{"is_active", *e.IsActive}, Column{"disabled", ""})
	}
	return set
}

func orNever(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// A WebhookEndpoint is an address at which a tenant is told of what happens.
type WebhookEndpoint struct {
	ID        int64
	Tenant    int64
	URL       string
	Events    []string
	IsActive  bool
	Disabled  webhook.Reason // why it is off, if we have switched it off
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int // of the endpoint's stream
}

// Wants tells whether the endpoint is to hear of events of this type.
func (e WebhookEndpoint) Wants(event string) bool {
	return webhook.Endpoint{Tenant: e.Tenant, Events: e.Events, IsActive: e.IsActive}.Wants(event)
}

const endpointColumns = `e.id, e.tenant, e.url, e.events, e.is_active, e.disabled, e.created_at, e.updated_at, e.version`

var endpointsBy = listRules{
	columns: endpointColumns, from: "webhook_endpoints e", id: "e.id", search: `lower(e.url)`, fields: fieldsOf("e", "is_active", "url"),
}

// WebhookEndpoint returns one of the caller's tenant; superusers reach all.
func (s NoticeReader) WebhookEndpoint(ctx context.Context, id int64) (WebhookEndpoint, error) {
	w := s.caller.tenantOrAll("e.tenant")
	w.and("e.id = ?", id)
	return one[WebhookEndpoint](ctx, s.db, "WebhookEndpoint", `select `+endpointColumns+` from webhook_endpoints e`, w)
}

// WebhookEndpoints lists those of the caller's tenant: by is_active and url.
func (s NoticeReader) WebhookEndpoints(ctx context.Context, l Listing) (Listed[WebhookEndpoint], error) {
	return part[WebhookEndpoint](ctx, s.db, endpointsBy, s.caller.tenant("e.tenant"), l)
}

// Listening are the endpoints of a tenant that are switched on, for the
// program itself.
func (s NoticeReader) Listening(ctx context.Context, tenant int64) ([]WebhookEndpoint, error) {
	w := s.caller.operators()
	w.and("e.tenant = ?", tenant)
	w.conditions = append(w.conditions, "e.is_active")
	return list[WebhookEndpoint](ctx, s.db, `select `+endpointColumns+` from webhook_endpoints e`, w, " order by e.id")
}

// A WebhookDelivery is a message on its way to an endpoint, or what became of
// it.
type WebhookDelivery struct {
	ID             uuid.UUID
	Endpoint       int64
	Tenant         int64
	EventID        string
	EventType      string
	Status         webhook.Status
	Attempts       int64
	ResponseStatus *int64 // of the last answer; nil: there was none
	Error          string // code of the last failure
	NextAttemptAt  *time.Time
	CreatedAt      time.Time
	DeliveredAt    *time.Time
	Version        int // of the delivery's stream
}

// Fields are the delivery as the API shows it.
func (d *WebhookDelivery) Fields() field.Set {
	return field.Set{
		field.UUID("id", &d.ID).ReadOnly(),
		field.Text("event_id", &d.EventID).ReadOnly().Doc("The header webhook-id: the same for each attempt and each endpoint."),
		field.Text("event_type", &d.EventType).ReadOnly(),
		field.Text("status", (*string)(&d.Status)).Among(deliveryStatuses()...).ReadOnly(),
		field.Int("attempts", &d.Attempts).ReadOnly(),
		field.NullInt("response_status", &d.ResponseStatus).ReadOnly().Doc("What the endpoint answered last."),
		field.Text("error", &d.Error).ReadOnly().Doc("Why the last attempt came to nothing, as a code; blank once it is delivered."),
		field.NullTime("next_attempt_at", &d.NextAttemptAt).ReadOnly(),
		field.Time("created_at", &d.CreatedAt).ReadOnly(),
		field.NullTime("delivered_at", &d.DeliveredAt).ReadOnly(),
	}
}

func deliveryStatuses() (names []string) {
	for _, s := range webhook.Statuses {
		names = append(names, string(s))
	}
	return names
}

const deliveryColumns = `d.id, d.endpoint, d.tenant, d.event_id, d.event_type, d.status, d.attempts, d.response_status,
	d.error, d.next_attempt_at, d.created_at, d.delivered_at, d.version`

var deliveriesBy = listRules{
	columns: deliveryColumns, from: "webhook_deliveries d", id: "d.id",
	fields: fieldsOf("d", "status", "event_type", "event_id", "attempts"),
}

// WebhookDelivery returns one of an endpoint of the caller's tenant.
func (s NoticeReader) WebhookDelivery(ctx context.Context, endpoint int64, id uuid.UUID) (WebhookDelivery, error) {
	w := s.caller.tenantOrAll("d.tenant")
	w.and("d.endpoint = ?", endpoint)
	w.and("d.id = ?", id)
	return one[WebhookDelivery](ctx, s.db, "WebhookDelivery", `select `+deliveryColumns+` from webhook_deliveries d`, w)
}

// WebhookDeliveries lists those of an endpoint: by status, event_type,
// event_id, attempts.
func (s NoticeReader) WebhookDeliveries(ctx context.Context, endpoint int64, l Listing) (Listed[WebhookDelivery], error) {
	w := s.caller.tenantOrAll("d.tenant")
	w.and("d.endpoint = ?", endpoint)
	return part[WebhookDelivery](ctx, s.db, deliveriesBy, w, l)
}

// SweepDeliveries takes deliveries out of the table that are over and have
// been shown long enough, some thousands at a time. The log keeps their events.
func (t *Tables) SweepDeliveries(ctx context.Context, shown time.Duration) error {
	const atOnce = 10_000
	over := `created_at < business_now() - $2::interval and status <> '` + string(webhook.Pending) + `'`
	err := t.For(System).db.ask(ctx, func(b *pgx.Batch) {
		b.Queue(
			`delete from webhook_deliveries where id = any(array(select id from webhook_deliveries where `+over+` limit $1))`,
			atOnce, shown,
		)
	})
	if err != nil {
		return fmt.Errorf("sweep deliveries: %w", err)
	}
	return nil
}
