// Package history has the commands that read the event log: `hostpanel history` and
// `hostpanel verify` (docs/log.md).
package history

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/history/timeline"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Command is `hostpanel history`.
type Command struct {
	Stream  string `arg:""`
	AsOf    string `name:"as-of" placeholder:"TIME" help:"As it stood then: 2026-11-21T14:30:00Z, or 2026-11-21 14:30 (UTC)."`
	Version int    `placeholder:"N" help:"As it stood after its Nth event."`
	Why     bool   `help:"Why the last of these events has happened: what led to it, back to the root."`
	State   bool   `help:"The record as it stood then, instead of what happened."`
	Diff    bool   `help:"What differs between two versions or times, which follow the stream: history site-12 --diff 1 4."`
	Graph   string `name:"graph-file" aliases:"graph" placeholder:"FILE" help:"Write causes and effects of the last event as SVG."`
	JSON    bool   `name:"json" help:"For programs."`

	Moments []string `arg:"" optional:"" help:"The two versions or times of --diff."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Command) Abouts() map[string]string {
	return map[string]string{
		"stream": "Such as order-<id>, site-12, tenant-3, user-1; or the number or id of an order. site-12/3 " +
			"is its third event.",
	}
}

// Run tells the history of one stream. Personal data is shown as the store
// opens it, blank once erased; secrets never stand in the log.
func (h Command) Run(ctx context.Context, s config.Settings, c console.Console) error {
	at, err := console.ParseTime(h.AsOf)
	if err != nil {
		return err
	}
	if name, number, cut := strings.Cut(h.Stream, "/"); cut {
		if h.Stream = name; h.Version != 0 {
			return console.Misused("send either %s/%s or --version", name, number)
		}
		if h.Version, err = strconv.Atoi(number); err != nil || h.Version < 1 {
			return console.Misused("%q is not the number of an event", number)
		}
	}
	if h.Version < 0 || h.Version > 0 && h.AsOf != "" {
		return console.Misused("send either --as-of or a --version of 1 or more")
	}
	switch {
	case h.Diff && len(h.Moments) != 2:
		return console.Misused("--diff takes two versions or times: history site-12 --diff 1 4")
	case !h.Diff && len(h.Moments) > 0:
		return console.Misused("%q belongs to --diff alone; an event is named with its stream: history %s/3", h.Moments[0], h.Stream)
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		stream, err := streamNamed(ctx, p, h.Stream)
		switch {
		case err != nil:
			return err
		case h.State:
			return h.printState(ctx, p, c, stream, at)
		case h.Diff:
			return h.printDiff(ctx, p, c, stream)
		}
		events, err := p.Store.Reader().ReadUntil(ctx, stream, h.Version, at)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			return h.nothing(stream)
		}
		p.Sagas.Audit.Looked(ctx, projections.System, stream.String())
		if h.Graph != "" {
			return h.writeGraph(ctx, p, c, events[len(events)-1].Position)
		}
		if h.Why {
			if events, err = p.Store.Reader().Chain(ctx, events[len(events)-1]); err != nil {
				return err
			}
		}
		switch {
		case h.JSON:
			return c.JSON(asLines(events))
		case h.Why:
			return printChain(ctx, p.Store.Reader(), c, events)
		}
		timeline.Print(c, stream, events)
		return nil
	})
}

// nothing says that a stream had no event then.
func (h Command) nothing(stream domain.Stream) error {
	return fmt.Errorf("nothing has happened to %s%s", stream, h.then())
}

func (h Command) then() string {
	if h.AsOf != "" {
		return " until " + h.AsOf
	}
	return ""
}

// streamNamed finds what is meant: the name of a stream, or an order's number or id.
func streamNamed(ctx context.Context, p *program.Program, name string) (domain.Stream, error) {
	if id, err := uuid.Parse(name); err == nil {
		return domain.Stream{Category: "order", ID: id.String()}, nil
	}
	if strings.HasPrefix(strings.ToUpper(name), "ORD-") {
		found, err := p.OrderNamed(ctx, name)
		return domain.Stream{Category: "order", ID: found.ID.String()}, err
	}
	category, id, ok := strings.Cut(name, "-")
	if !ok || category == "" || id == "" {
		return domain.Stream{}, console.Misused("%q is not a stream such as order-<id> or site-12", name)
	}
	return domain.Stream{Category: category, ID: id}, nil
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
	Cause       string          `json:"cause"`
	Saga        string          `json:"saga,omitempty"`
	Request     string          `json:"request_id,omitempty"`
	Trace       string          `json:"traceparent,omitempty"`
	Text        string          `json:"text"`
	Data        json.RawMessage `json:"data"`
}

func asLines(events []eventstore.RecordedEvent) []line {
	lines := make([]line, len(events))
	for i, e := range events {
		lines[i] = line{
			e.Position, e.Stream.String(), e.Version, e.Name, e.RecordedAt, e.Metadata.Actor, e.Tenant,
			e.Metadata.Correlation, e.Metadata.Cause.String(), e.Metadata.Saga, e.Metadata.Request,
			e.Metadata.Traceparent, e.Event.Says(), timeline.DataOf(e.Event),
		}
	}
	return lines
}
