package hosting

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// WebhookEndpoints carries out what changes an endpoint of a tenant's together with the
// secret that its messages are signed with, all or none (docs/webhooks.md).
type WebhookEndpoints interface {
	// Open makes an endpoint and answers with its secret: "whsec_…".
	Open(context.Context, domain.Metadata, webhook.Create) (secret string, err error)
	// Rotate gives an endpoint another secret and answers with it. The one
	// before signs along for a day.
	Rotate(ctx context.Context, cause domain.Metadata, id int64) (secret string, err error)
	// Remove ends an endpoint and destroys its secrets, and what opens its
	// address in the log ([webhook.Subject]).
	Remove(ctx context.Context, cause domain.Metadata, id int64) error
}

// Endpoints are served beside the kinds of hosting records, and reached by the
// same rules: those of a kind that only administrators write.
type endpoints struct {
	collection *collection
	callers    *caller.Callers
	commands   record.Commands
	numbers    record.Numbers
	service    Service
	endpoints  WebhookEndpoints
	networks   []netip.Prefix
}

var endpointKind = hosting.Kind{
	Name: webhook.EndpointCategory, Class: "WebhookEndpoint", Label: "webhook endpoint",
	Collection: webhook.EndpointCollection, Writers: hosting.Admin,
}

func (e *endpoints) pathOf(id int64) string {
	return e.collection.path() + strconv.FormatInt(id, 10) + "/"
}

const secretOnce = "The secret is in this answer and nowhere else. A repeat with the same Idempotency-Key shows null."

func (e *endpoints) routes() []route.Route {
	one := e.collection.path() + "{id:int}/"
	routes := []route.Route{
		listing.Pages[endpoint](e.collection.path(), "All webhook endpoints", e.listSpec(), e.list).
			As("webhook_endpoint_list").For(e.collection.readers()),
		route.Get(one, "One webhook endpoint", record.Found[endpoint]).As("webhook_endpoint_read").
			For(e.collection.readers()).Finding(e.find),
		route.Post(e.collection.path(), "Make a webhook endpoint", e.create).As("webhook_endpoint_create").
			For(e.collection.writers()).Barring(e.collection.barSuspended).
			Caching("no-store").Checking(route.Check(e.check)).Saying(secretOnce),
		e.changing(route.Put(one, "Replace a webhook endpoint", e.change), "replace").Checking(route.Check(e.check)),
		e.changing(route.Patch(one, "Change some fields of a webhook endpoint", e.change), "change").Checking(route.Check(e.check)),
		e.changing(route.Delete(one, "Remove a webhook endpoint", e.remove), "delete"),
		e.changing(route.Post(one+
			"rotate_secret/", "Give a webhook endpoint another secret", e.rotate), "rotate_secret").With(http.StatusOK).
			Caching("no-store").Saying(secretOnce + " Messages are signed with both secrets for 24 hours."),
	}
	for i := range routes {
		routes[i] = routes[i].Of(e.collection.kind.Class)
	}
	return slices.Concat(routes, e.deliveryRoutes(one))
}

// changing declares a change of an endpoint.
func (e *endpoints) changing(r route.Route, what string) route.Route {
	return r.As("webhook_endpoint_" + what).For(e.collection.writers()).Finding(e.findOpen)
}

// An endpoint is one as requests and answers have it.
type endpoint struct {
	projections.WebhookEndpoint
	before projections.WebhookEndpoint // as it was found
	secret *string                     // nil: it was shown before
}

// eventNames are all that an endpoint may list, and mostEvents how many.
var eventNames = webhook.Names(hosting.Announced())

const mostEvents = 50

// Fields are the endpoint.
func (e *endpoint) Fields() field.Set {
	return field.Set{
		field.Int("id", &e.ID).ReadOnly(),
		field.Ref("tenant", &e.Tenant).Once().Doc("The active tenant when absent; only superusers name another."),
		field.Text("url", &e.URL).Required().Max(webhook.MaxURL).Doc("Where messages go: https, a public address. It may hold a token."),
		field.Texts("events", &e.Events, func(f field.Field) field.Field { return f.Among(eventNames...) }).Min(1).Max(mostEvents).
			Default([]string{"*"}).Doc("What the endpoint is told: types of events, groups of them (site.*), or everything (*)."),
		field.Flag("is_active", &e.IsActive).Default(true),
		field.Text("disabled_reason", (*string)(&e.Disabled)).ReadOnly().
			Doc("Why the panel has switched it off: gone, because it answered 410. Blank once it is switched on again."),
		field.NullText("secret", &e.secret).OneTime().ReadOnly().Doc(
			"What messages are signed with. It is shown when it is made, and only then.",
		),
		field.Time("created_at", &e.CreatedAt).ReadOnly(),
		field.Time("updated_at", &e.UpdatedAt).ReadOnly(),
	}
}

func (e *endpoint) Tag() string {
	return record.Tag(webhook.EndpointCategory, strconv.FormatInt(e.ID, 10), e.Version)
}

// changes are what differs from what was found.
func (e *endpoint) changes() webhook.Change {
	c := webhook.Change{ID: e.ID}
	if e.URL != e.before.URL {
		c.URL = &e.URL
	}
	if !slices.Equal(e.Events, e.before.Events) {
		c.Events = e.Events
	}
	if e.IsActive != e.before.IsActive {
		c.IsActive = &e.IsActive
	}
	return c
}

func (e *endpoints) listSpec() listing.Spec {
	return listing.Spec{
		Filters: func() field.Set {
			return field.Set{
				field.Flag("is_active", new(bool)).Doc("Only those that are switched on, or off."),
				field.Ref("tenant", new(int64)).Doc("Only those of this tenant; for superusers."),
			}
		},
		Search: "url", Ordering: []string{"url", "is_active"},
	}
}

func (e *endpoints) list(ctx context.Context, c route.Call, l projections.Listing) (listed projections.Listed[endpoint], err error) {
	if err := e.collection.knownFilters(ctx, c, l); err != nil {
		return listed, err
	}
	scope, l := e.collection.listScope(c, l)
	rows, err := scope.Notices().WebhookEndpoints(ctx, l)
	return record.Map(rows, err, func(row projections.WebhookEndpoint) endpoint { return endpoint{WebhookEndpoint: row} })
}

func (e *endpoints) record(ctx context.Context, c route.Call, id int64) (*endpoint, error) {
	row, err := e.callers.Scope(c).Notices().WebhookEndpoint(ctx, id)
	return &endpoint{WebhookEndpoint: row, before: row}, err
}

func (e *endpoints) find(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(e.record(ctx, c, c.ID("id")))
}

// findOpen finds what the path names, for a change.
func (e *endpoints) findOpen(ctx context.Context, c route.Call) (any, string, error) {
	found, tag, err := e.find(ctx, c)
	if err == nil {
		err = e.collection.open(ctx, caller.Of(c))
	}
	return found, tag, err
}

// check says whose a new endpoint is, and whether messages could go there.
func (e *endpoints) check(ctx context.Context, c route.Call, w *endpoint, wrong *field.Errors) error {
	if c.Sent.Has("url") && !wrong.Has("url") {
		var refusal *domain.Error
		if err := webhook.CheckURL(w.URL, e.networks); errors.As(err, &refusal) {
			wrong.Add(refusal.Field, refusal.Message)
		}
	}
	if w.ID != 0 {
		return nil
	}
	return e.service.SettleTenant(ctx, caller.Of(c).Reader(), c.Sent, &w.Tenant, wrong)
}

func (e *endpoints) create(ctx context.Context, c route.Call, w *endpoint) (*endpoint, error) {
	id, err := record.NextNumber(ctx, e.numbers, e.collection.kind.Name)
	if err != nil {
		return nil, err
	}
	c.Location(e.pathOf(id))
	secret, err := e.endpoints.Open(
		ctx, c.Cause(), webhook.Create{ID: id, Tenant: w.Tenant, URL: w.URL, Events: w.Events, IsActive: w.IsActive},
	)
	return e.withSecret(ctx, c, id, secret, err)
}

func (e *endpoints) rotate(ctx context.Context, c route.Call, _ *route.Nothing) (*endpoint, error) {
	w := c.Subject.(*endpoint) //nolint:forcetypeassert // found by findOpen
	secret, err := e.endpoints.Rotate(ctx, e.causeOf(c, w), w.ID)
	return e.withSecret(ctx, c, w.ID, secret, err)
}

// withSecret is the record after its secret was made, with the secret.
func (e *endpoints) withSecret(ctx context.Context, c route.Call, id int64, secret string, err error) (*endpoint, error) {
	if err != nil {
		return nil, err
	}
	record, err := record.Shown(c, func() (*endpoint, error) { return e.record(ctx, c, id) })
	record.secret = &secret
	return record, err
}

func (e *endpoints) change(ctx context.Context, c route.Call, w *endpoint) (*endpoint, error) {
	if _, err := e.commands.Execute(ctx, e.causeOf(c, w), w.changes()); err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*endpoint, error) { return e.record(ctx, c, w.ID) })
}

func (e *endpoints) remove(ctx context.Context, c route.Call) error {
	w := c.Subject.(*endpoint) //nolint:forcetypeassert // found by findOpen
	return e.endpoints.Remove(ctx, e.causeOf(c, w), w.ID)
}

func (e *endpoints) causeOf(c route.Call, w *endpoint) domain.Metadata {
	return c.CauseOf(domain.Versions{webhook.EndpointStream(w.ID): w.Version})
}
