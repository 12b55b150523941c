package audit

import (
	"encoding/hex"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// Fields are the event. What the caller may not know is null.
func (e *Event) Fields() field.Set {
	version, actor := int64(e.Version), &e.Actor
	position, stream, cause, request := domain.OrNull(e.Position), domain.OrNull(e.Stream), domain.OrNull(e.Cause), domain.OrNull(e.Request)
	tenant, correlation := domain.OrNull(e.Tenant), domain.OrNull(e.Correlation)
	prev, hash := domain.OrNull(hex.EncodeToString(e.PrevHash)), hex.EncodeToString(e.Hash)
	return field.Set{
		field.NullInt("position", &position).ReadOnly().Doc("In the log."),
		field.NullText("stream", &stream).ReadOnly(),
		field.Int("version", &version).ReadOnly().Doc("In its stream."),
		field.Text("type", &e.Type).ReadOnly(),
		field.NullInt("tenant", &tenant).ReadOnly(),
		field.Within("actor", true, actor.Fields).ReadOnly(),
		field.NullUUID("correlation_id", &correlation).ReadOnly().Doc("Shared by everything that came of one request."),
		field.NullText("causation_id", &cause).ReadOnly().Doc(
			"What led to it, with its kind: event:site-12/3, request:…, webhook:…, deadline:…, operator:…; null: not for this caller.",
		),
		field.NullText("request_id", &request).ReadOnly().Doc("X-Request-ID of the request that led to it."),
		field.Time("recorded_at", &e.RecordedAt).ReadOnly(),
		field.Text("text", &e.Text).ReadOnly().Doc("What happened, in words."),
		field.Any("data", &e.Data).ReadOnly().Doc("The event, without secrets. Erased texts are empty."),
		field.Texts("erased", &e.Erased, nil).ReadOnly().Doc("JSON pointers of the texts in data that were erased."),
		field.NullText("prev_hash", &prev).ReadOnly().Doc(
			"Of the event before it in its stream; null: the first one, or not for this caller.",
		),
		field.Text("hash", &hash).ReadOnly(),
	}
}

// Fields are the actor.
func (a *Actor) Fields() field.Set {
	return field.Set{
		field.Text("type", &a.Type).ReadOnly().Doc("user, api_key, system, provider or operator."),
		field.Text("id", &a.ID).ReadOnly(),
		field.Text("label", &a.Label).ReadOnly().Doc("A user's name; empty: none, erased, or not for this caller."),
	}
}
