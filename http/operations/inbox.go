package operations

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Inbox is what payment providers have sent.
type Inbox interface {
	WebhooksListed(context.Context, projections.Listing) (projections.Listed[operations.Webhook], error)
	WebhookNumbered(ctx context.Context, id int64) (operations.Webhook, error)
	CountWebhooks(context.Context, operations.WebhookPick) (int64, error)
	// ReplayWebhook and ReplayWebhooks put webhooks back to be worked on,
	// whatever became of them. What was booked is not booked again.
	ReplayWebhook(ctx context.Context, cause domain.Metadata, id int64, reason string) error
	ReplayWebhooks(ctx context.Context, cause domain.Metadata, which operations.WebhookPick, reason string) (int64, error)
	// MatchWebhook takes an unmatched webhook for one about an order, unless the
	// provider's books show that it cannot be: then the field order is wrong.
	MatchWebhook(ctx context.Context, cause domain.Metadata, id int64, of uuid.UUID, reason string) error
}

const (
	inboxPath   = operationsPrefix + "webhook-inbox/"
	webhookPath = inboxPath + "{id:int}/"
)

func (s *inbox) inboxRoutes() []route.Route {
	show := func(ctx context.Context, c route.Call) (*webhookDetail, error) {
		return record.Shown(c, func() (*webhookDetail, error) { return s.webhook(ctx, c.ID("id")) })
	}
	resumed := func(ctx context.Context, c route.Call, _ string) (route.Answer, error) {
		w, err := show(ctx, c)
		if err != nil {
			return nil, err
		}
		return w.Fields(), nil
	}
	return []route.Route{
		listing.Pages[operations.Webhook](inboxPath, "Webhooks of payment providers", listing.Spec{
			Filters: func() field.Set {
				return append(field.Set{
					field.Text("provider", new(string)).Among(s.paymentMethods...).Doc("Only of this provider."),
					field.Text("state", new(string)).Among(operations.WebhookStates...).Doc("Only webhooks in this state."),
					field.Text("type", new(string)).Doc("Only of this type, in the provider's words."),
					field.Text("event_id", new(string)).Doc("Only the one with this id of the provider's."),
					field.UUID("order", new(uuid.UUID)).Doc("Only those that concern this order."),
				}, listing.Ranges("received_at")...)
			},
			Ordering: []string{"received_at", "provider", "type", "state", "attempts"},
		}, s.listWebhooks).As("stored_webhook_list"),
		route.Post(inboxPath+"replay/", "Act again on all webhooks that a filter leaves", s.replayWebhooks).As("webhook_range_replay").
			With(http.StatusAccepted).OrWith(http.StatusOK).Checking(route.Check(checkReplay)).
			Saying(
				"With dry_run they are only counted, which is what it does unless it is told otherwise. What was " +
					"booked is not booked again.",
			).
			Resuming(func(context.Context, route.Call, string) (route.Answer, error) {
				return (&replayAnswer{DryRun: false}).Fields(), nil
			}),
		route.Get(webhookPath, "A webhook as it came", record.Found[webhookDetail]).As("stored_webhook_read").
			Of("WebhookEvent").Finding(s.findWebhook),
		route.Post(webhookPath+
			"replay/", "Act on a webhook again", func(ctx context.Context, c route.Call, w *asking) (*webhookDetail, error) {
			if err := s.payments.ReplayWebhook(ctx, c.Cause(), c.ID("id"), w.Reason); err != nil {
				return nil, err
			}
			return show(ctx, c)
		}).As("stored_webhook_replay").Of("WebhookEvent").With(http.StatusAccepted).Finding(s.findWebhook).
			Saying("The provider is asked for the truth; what was booked is not booked again.").
			Resuming(resumed),
		route.Post(webhookPath+"match/", "Match a webhook that fits no order with one", func(
			ctx context.Context, c route.Call, m *matching,
		) (*webhookDetail, error) {
			if err := s.matchWebhook(ctx, c, c.Subject.(*webhookDetail), m); err != nil { //nolint:forcetypeassert // found by findWebhook
				return nil, err
			}
			return show(ctx, c)
		}).As("stored_webhook_match").Of("WebhookEvent").With(http.StatusAccepted).Finding(s.findWebhook).Resuming(resumed).
			Saying(
				"The provider is asked first: what is of another provider, amount or currency is refused. A payment "+
					"under another session holds the order until it is accepted.",
			).
			Failing(http.StatusConflict, "The webhook is not unmatched (invalid_state).").
			Failing(http.StatusServiceUnavailable, "The payment provider does not answer."),
	}
}

// A matching says about which order a webhook is.
type matching struct{ Order, Reason string }

// Fields are the matching.
func (m *matching) Fields() field.Set {
	return field.Set{
		field.Text("order", &m.Order).Required().Max(64).Doc("Its number or id."),
		reasonField(&m.Reason),
	}
}

// matchWebhook matches a webhook with an order that is named by its number or its id.
func (s *inbox) matchWebhook(ctx context.Context, c route.Call, w *webhookDetail, m *matching) error {
	named := projections.Filter{Field: "order_number", Op: "=", Value: strings.ToUpper(m.Order)}
	if id, err := uuid.Parse(m.Order); err == nil {
		named = projections.Filter{Field: "id", Op: "=", Value: id}
	}
	found, err := s.callers.Scope(c).Orders().OrdersListed(ctx, projections.Listing{Filters: []projections.Filter{named}, Limit: 1})
	switch {
	case err != nil:
		return err
	case len(found.Rows) == 0:
		return domain.RefuseField("order", "There is no such order.")
	}
	return s.payments.MatchWebhook(ctx, c.Cause(), w.ID, found.Rows[0].ID, m.Reason)
}

func (s *inbox) listWebhooks(ctx context.Context, _ route.Call, l projections.Listing) (projections.Listed[operations.Webhook], error) {
	return s.payments.WebhooksListed(ctx, l)
}

func (s *inbox) webhook(ctx context.Context, id int64) (*webhookDetail, error) {
	w, err := s.payments.WebhookNumbered(ctx, id)
	return &webhookDetail{w}, err
}

func (s *inbox) findWebhook(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.webhook(ctx, c.ID("id")))
}

// A webhookDetail is a webhook as it came.
type webhookDetail struct{ operations.Webhook }

// Fields are the webhook.
func (w *webhookDetail) Fields() field.Set {
	headers, body := w.Headers, w.text()
	if len(headers) == 0 {
		headers = json.RawMessage("{}")
	}
	return append(w.Webhook.Fields(),
		field.Any("headers", &headers).ReadOnly().Doc("With the values of signatures masked."),
		field.NullText("body", &body).ReadOnly().Doc(
			"As it came; bytes that are no text stand in a data: URL. Null: it is no longer kept.",
		))
}

// text is the body for people. Providers send text; anything else is told as
// a data URL.
func (w *webhookDetail) text() *string {
	if w.Body == nil {
		return nil
	}
	text := string(w.Body)
	if !utf8.Valid(w.Body) {
		text = "data:application/octet-stream;base64," + base64.StdEncoding.EncodeToString(w.Body)
	}
	return &text
}

func (w *webhookDetail) Tag() string {
	return "webhook-" + strconv.FormatInt(w.ID, 10) + "-" + record.Fingerprint(w.Fields())
}

// A replay says which webhooks are acted on again.
type replay struct {
	Reason, Provider, State, Type, EventID string
	Order                                  *uuid.UUID
	From, To                               *time.Time
	DryRun                                 bool
}

// Fields are the replay.
func (r *replay) Fields() field.Set {
	return field.Set{
		field.Text("provider", &r.Provider).Max(20).Default(""),
		field.Text("state", &r.State).Among(append([]string{""}, operations.WebhookStates...)...).Default(""),
		field.Text("type", &r.Type).Max(100).Default(""),
		field.Text("event_id", &r.EventID).Max(200).Default(""),
		field.NullUUID("order", &r.Order).Default(nil),
		field.NullTime("received_from", &r.From).Default(nil),
		field.NullTime("received_until", &r.To).Default(nil).Doc("Not included."),
		field.Flag("dry_run", &r.DryRun).Default(true).Doc("Only count."),
		field.Text("reason", &r.Reason).Max(reasonMost).Is(field.Plain).Default("").Doc("Required unless dry_run; it stands in the log."),
	}
}

func checkReplay(_ context.Context, _ route.Call, r *replay, wrong *field.Errors) error {
	if !r.DryRun && r.Reason == "" && !record.IsWrong(*wrong, "reason") {
		wrong.Add("reason", "This field is required.")
	}
	if r.pick() == (pickOf{}) && !r.DryRun {
		wrong.Add(field.NonField, "Say which webhooks.")
	}
	return nil
}

// pickOf is what of a replay picks webhooks.
type pickOf struct {
	provider, state, typ, event string
	order                       uuid.UUID
	from, to                    time.Time
}

func (r *replay) pick() pickOf {
	p := pickOf{provider: r.Provider, state: r.State, typ: r.Type, event: r.EventID}
	if r.Order != nil {
		p.order = *r.Order
	}
	if r.From != nil {
		p.from = *r.From
	}
	if r.To != nil {
		p.to = *r.To
	}
	return p
}

// A replayAnswer tells how many webhooks a replay concerns.
type replayAnswer struct {
	Count  int64
	DryRun bool
}

// Fields are the answer.
func (a *replayAnswer) Fields() field.Set {
	return field.Set{field.Int("count", &a.Count).ReadOnly(), field.Flag("dry_run", &a.DryRun).ReadOnly()}
}

func (s *inbox) replayWebhooks(ctx context.Context, c route.Call, r *replay) (_ *replayAnswer, err error) {
	p := r.pick()
	which := operations.WebhookPick{
		Provider: p.provider, State: p.state, Type: p.typ, EventID: p.event, Order: p.order, From: p.from, To: p.to,
	}
	a := &replayAnswer{DryRun: r.DryRun}
	if r.DryRun {
		c.Status(http.StatusOK)
		a.Count, err = s.payments.CountWebhooks(ctx, which)
		return a, err
	}
	a.Count, err = s.payments.ReplayWebhooks(ctx, c.Cause(), which, r.Reason)
	return a, err
}
