package hosting

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/webhook"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// What became of the messages to an endpoint (docs/webhooks.md, "Delivery").

const (
	stillPending = "It is still being attempted (delivery_pending), or the endpoint is switched off (endpoint_inactive)."
	testPending  = "One is on its way already (in_progress), or the endpoint is switched off (endpoint_inactive)."
)

func (e *endpoints) deliveryRoutes(one string) []route.Route {
	all := one + "deliveries/"
	single := all + "{uuid:uuid}/"
	return []route.Route{
		deliveriesAsk.Document(route.Pages[delivery](all, "What an endpoint was told", listing.Listing(deliveriesAsk, e.listDeliveries))).
			As("webhook_delivery_list").Of(e.collection.kind.Class).For(e.collection.readers()).Finding(e.find).Saying(
			"Of the last 30 days, the newest first.",
		),
		route.Get(single, "What became of a message to an endpoint", record.Found[delivery]).As("webhook_delivery_read").
			Of(deliveryClass).For(e.collection.readers()).Finding(e.findDelivery),
		route.Post(single+"redeliver/", "Send a message again", e.redeliver).As("webhook_delivery_redeliver").With(http.StatusAccepted).
			Of(deliveryClass).For(e.collection.writers()).Finding(e.findDeliveryOpen).Failing(http.StatusConflict, stillPending).
			Saying("The same message with the same webhook-id, signed anew."),
		e.changing(route.Post(one+
			"test/", "Send an endpoint a test message", e.test), "test").With(http.StatusAccepted).Of(e.collection.kind.Class).
			Failing(http.StatusConflict, testPending).Saying(
			"A message of the type " + webhook.TestEvent + ", whatever the endpoint wants to hear.",
		),
	}
}

const deliveryClass = "WebhookDelivery"

// A delivery is one as answers show it.
type delivery struct {
	projections.WebhookDelivery
	to projections.WebhookEndpoint
}

func (d *delivery) Tag() string {
	return record.Tag(webhook.DeliveryCategory, d.ID.String(), d.Version)
}

var deliveriesAsk = listing.Spec{
	Filters: func() field.Set {
		return field.Set{
			field.Text("status", new(string)).Among(statusNames()...).Doc("Only deliveries in this status."),
			field.Text("event_type", new(string)).Doc("Only events of this type."),
			field.Text("event_id", new(string)).Doc("Only this event."),
		}
	},
	Ordering: []string{"status", "event_type", "attempts"}, UUIDs: true,
}

func statusNames() (names []string) {
	for _, s := range webhook.Statuses {
		names = append(names, string(s))
	}
	return names
}

func (e *endpoints) listDeliveries(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[delivery], error) {
	of := c.Subject.(*endpoint) //nolint:forcetypeassert // found by find
	rows, err := e.callers.Scope(c).Notices().WebhookDeliveries(ctx, of.ID, l)
	return record.Map(rows, err, func(row projections.WebhookDelivery) delivery { return delivery{WebhookDelivery: row} })
}

func (e *endpoints) delivery(ctx context.Context, c route.Call, to *endpoint, id uuid.UUID) (*delivery, error) {
	row, err := e.callers.Scope(c).Notices().WebhookDelivery(ctx, to.ID, id)
	return &delivery{row, to.before}, err
}

func (e *endpoints) findDelivery(ctx context.Context, c route.Call) (any, string, error) {
	to, err := e.record(ctx, c, c.ID("id"))
	if err != nil {
		return nil, "", err
	}
	return record.Subject(e.delivery(ctx, c, to, c.UUID("uuid")))
}

func (e *endpoints) findDeliveryOpen(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := e.findDelivery(ctx, c)
	if err == nil {
		err = e.collection.open(ctx, caller.Of(c))
	}
	return found, tag, err
}

var endpointInactive = &domain.Error{Code: domain.Conflict, Reason: "endpoint_inactive", Message: "The endpoint is switched off."}

// redeliver has a message delivered once more.
func (e *endpoints) redeliver(ctx context.Context, c route.Call, _ *route.Nothing) (*delivery, error) {
	d := c.Subject.(*delivery) //nolint:forcetypeassert // found by findDeliveryOpen
	if !d.to.IsActive {
		return nil, endpointInactive
	}
	c.Location(e.deliveryPath(d.to.ID, d.ID))
	cause := c.CauseOf(domain.Versions{webhook.DeliveryStream(d.ID): d.Version})
	if _, err := e.commands.Execute(ctx, cause, webhook.Redeliver{ID: d.ID, By: caller.Of(c).ID}); err != nil {
		return nil, err
	}
	return e.deliveryShown(ctx, c, d.to, d.ID)
}

// test has a message delivered that says nothing but that messages arrive.
func (e *endpoints) test(ctx context.Context, c route.Call, _ *route.Nothing) (*delivery, error) {
	to := c.Subject.(*endpoint) //nolint:forcetypeassert // found by findOpen
	if !to.IsActive {
		return nil, endpointInactive
	}
	request := webhook.Request{ID: uuid.New(), Endpoint: to.ID, Tenant: to.Tenant, Message: webhook.Message{
		ID: uuid.NewString(), Type: webhook.TestEvent, At: e.callers.Now(), Tenant: to.Tenant,
		Data: webhook.Thing{Kind: webhook.EndpointCategory, ID: to.ID, Tenant: to.Tenant, URL: e.pathOf(to.ID)}.Data(),
	}}
	c.Location(e.deliveryPath(to.ID, request.ID))
	if _, err := e.commands.Execute(ctx, e.causeOf(c, to), request); err != nil {
		return nil, err
	}
	return e.deliveryShown(ctx, c, to.before, request.ID)
}

func (e *endpoints) deliveryPath(endpoint int64, id uuid.UUID) string {
	return e.pathOf(endpoint) + "deliveries/" + id.String() + "/"
}

func (e *endpoints) deliveryShown(ctx context.Context, c route.Call, to projections.WebhookEndpoint, id uuid.UUID) (*delivery, error) {
	return record.Shown(c, func() (*delivery, error) { return e.delivery(ctx, c, &endpoint{WebhookEndpoint: to, before: to}, id) })
}
