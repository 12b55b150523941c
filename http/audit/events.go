package audit

import (
	"context"
	"encoding/hex"
	"net/http"

	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

func (s *log) streamRoutes() []route.Route {
	return []route.Route{
		route.Pages[eventEntry](streamPath+"events/", "The events of a stream, oldest first", s.streamEvents).As("audit_stream_events").
			Failing(http.StatusNotFound, "There is no such stream, or it is foreign.").
			Saying("Streams are named like site-12, order-<uuid>, tenant-3, user-1 and security-1."),
	}
}

func (s *log) streamEvents(ctx context.Context, c route.Call, w route.Window) (route.Page[eventEntry], error) {
	found, err := s.Lookback.StreamEvents(ctx, readerOf(c), streamOf(c), int(w.Offset), int(w.Limit))
	return route.Page[eventEntry]{Count: found.Count, Results: entriesOf(found.Events)}, err
}

func entriesOf(events []audit.Event) []eventEntry {
	entries := make([]eventEntry, len(events))
	for i, e := range events {
		entries[i] = eventEntry{e}
	}
	return entries
}

// An eventEntry is an event of the log.
type eventEntry struct{ audit.Event }

// Fields are the event. What the caller may not know is null.
func (e *eventEntry) Fields() field.Set {
	version, actor := int64(e.Version), actorEntry{&e.Actor}
	position, stream, cause, request := orNull(e.Position), orNull(e.Stream), orNull(e.Cause), orNull(e.Request)
	tenant, correlation := orNull(e.Tenant), orNull(e.Correlation)
	prev, hash := orNull(hex.EncodeToString(e.PrevHash)), hex.EncodeToString(e.Hash)
	return field.Set{
		field.NullInt("position", &position).ReadOnly().Doc("In the log."),
		field.NullText("stream", &stream).ReadOnly(),
		field.Int("version", &version).ReadOnly().Doc("In its stream."),
		field.Text("type", &e.Type).ReadOnly(),
		field.NullInt("tenant", &tenant).ReadOnly(),
		field.Within("actor", true, actor.Fields).ReadOnly(),
		field.NullUUID("correlation_id", &correlation).ReadOnly().Doc("Shared by everything that came of one request."),
		field.NullText("causation_id", &cause).ReadOnly().Doc("What led to it, with its kind: event:site-12/3, request:…, webhook:…, deadline:…, operator:…; null: not for this caller."),
		field.NullText("request_id", &request).ReadOnly().Doc("X-Request-ID of the request that led to it."),
		field.Time("recorded_at", &e.RecordedAt).ReadOnly(),
		field.Text("text", &e.Text).ReadOnly().Doc("What happened, in words."),
		field.Any("data", &e.Data).ReadOnly().Doc("The event, without secrets. Erased texts are empty."),
		field.Texts("erased", &e.Erased, nil).ReadOnly().Doc("JSON pointers of the texts in data that were erased."),
		field.NullText("prev_hash", &prev).ReadOnly().Doc("Of the event before it in its stream; null: the first one, or not for this caller."),
		field.Text("hash", &hash).ReadOnly(),
	}
}

// An actorEntry is who did something.
type actorEntry struct{ *audit.Actor }

// Fields are the actor.
func (a actorEntry) Fields() field.Set {
	return field.Set{
		field.Text("type", &a.Type).ReadOnly().Doc("user, api_key, system, provider or operator."),
		field.Text("id", &a.ID).ReadOnly(),
		field.Text("label", &a.Label).ReadOnly().Doc("A user's name; empty: none, erased, or not for this caller."),
	}
}

// orNull is nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
