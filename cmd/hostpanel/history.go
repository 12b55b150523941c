package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

type historyCommand struct {
	Stream  string `arg:"" help:"Such as order-<id>, site-12, tenant-3, user-1; or the number or id of an order."`
	AsOf    string `name:"as-of" placeholder:"TIME" help:"As it stood then: 2026-11-21T14:30:00Z, or 2026-11-21 14:30 (UTC)."`
	Version int    `placeholder:"N" help:"As it stood after its Nth event."`
	JSON    bool   `name:"json" help:"For programs."`
}

// Run tells the history of one stream. Personal data is shown as the store
// opens it, blank once erased; secrets never stand in the log.
func (h historyCommand) Run(ctx context.Context, s Settings, c console) error {
	at, err := parseTime(h.AsOf)
	if err != nil {
		return err
	}
	if h.Version < 0 || h.Version > 0 && h.AsOf != "" {
		return misused("send either --as-of or a --version of 1 or more")
	}
	return with(ctx, s, c, func(p *program) error {
		stream, err := p.stream(ctx, h.Stream)
		if err != nil {
			return err
		}
		events, err := p.store.ReadUntil(ctx, stream, h.Version, at)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return fmt.Errorf("nothing has happened to %s%s", stream, h.then())
		}
		if h.JSON {
			return c.json(asLines(events))
		}
		c.timeline(stream, events)
		return nil
	})
}

func (h historyCommand) then() string {
	if h.AsOf != "" {
		return " until " + h.AsOf
	}
	return ""
}

// stream finds what is meant: the name of a stream, or an order's number or id.
func (p *program) stream(ctx context.Context, name string) (domain.Stream, error) {
	if id, err := uuid.Parse(name); err == nil {
		return domain.Stream{Category: "order", ID: id.String()}, nil
	}
	if strings.HasPrefix(strings.ToUpper(name), "ORD-") {
		found, err := p.orderNamed(ctx, name)
		return domain.Stream{Category: "order", ID: found.ID.String()}, err
	}
	category, id, ok := strings.Cut(name, "-")
	if !ok || category == "" || id == "" {
		return domain.Stream{}, misused("%q is not a stream such as order-<id> or site-12", name)
	}
	return domain.Stream{Category: category, ID: id}, nil
}

// orderNamed finds an order by its number or its id.
func (p *program) orderNamed(ctx context.Context, name string) (projections.Order, error) {
	scope := p.tables.For(projections.System)
	id, err := uuid.Parse(strings.TrimPrefix(name, "order-"))
	if err == nil {
		found, err := scope.Order(ctx, id)
		return found, orNamed(err, name)
	}
	found, err := scope.OrderByNumber(ctx, strings.ToUpper(name))
	return found, orNamed(err, name)
}

func orNamed(err error, name string) error {
	if domain.CodeOf(err) == domain.NotFound {
		return fmt.Errorf("there is no order %s", name)
	}
	return err
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			return at, nil
		}
	}
	return time.Time{}, misused("%q is not a time such as 2026-11-21T14:30:00Z", text)
}

// A line is an event as --json shows it.
type line struct {
	Position    int64           `json:"position"`
	Stream      string          `json:"stream"`
	Version     int             `json:"version"`
	Type        string          `json:"type"`
	RecordedAt  time.Time       `json:"recorded_at"`
	Actor       string          `json:"actor"`
	Tenant      int64           `json:"tenant,omitempty"`
	Correlation uuid.UUID       `json:"correlation_id"`
	Causation   uuid.UUID       `json:"causation_id,omitzero"`
	Saga        string          `json:"saga,omitempty"`
	Request     string          `json:"request_id,omitempty"`
	Text        string          `json:"text"`
	Data        json.RawMessage `json:"data"`
}

func asLines(events []eventstore.RecordedEvent) []line {
	lines := make([]line, len(events))
	for i, e := range events {
		lines[i] = line{
			e.Position, e.Stream.String(), e.Version, e.Name, e.RecordedAt, e.Metadata.Actor, e.Tenant,
			e.Metadata.Correlation, e.Metadata.Causation, e.Metadata.Saga, e.Metadata.Request, e.Event.Says(), dataOf(e.Event),
		}
	}
	return lines
}

// dataOf is an event's own data. Nothing secret should stand there; should it
// ever, it is not shown.
func dataOf(e domain.Event) json.RawMessage {
	text, err := json.Marshal(e)
	var all map[string]any
	if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil {
		return json.RawMessage(`{}`)
	}
	text, err = json.Marshal(withoutSecrets(all))
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

func withoutSecrets(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			if isSecret(name) {
				v[name] = masked
			} else {
				v[name] = withoutSecrets(inner)
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutSecrets(v[i])
		}
	case string:
		return mask(v)
	}
	return v
}
