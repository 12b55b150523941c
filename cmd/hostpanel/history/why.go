package history

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/history/graph"
	"hostpanel/cmd/hostpanel/history/timeline"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// printChain prints what led to the first event, an event a line, and the root:
//
//	why order-6f1c…/4 happened
//
//	event            when (UTC)               what                      who
//	order-6f1c…/4    2026-11-21 14:31:09.004  setup starts              system:provision
//	saga-81d2…/1     2026-11-21 14:31:07.901  run provision/1 begins    provider:test
//	order-6f1c…/3    2026-11-21 14:31:07.901  28.70 EUR arrived         provider:test
//
//	root: the webhook evt_1 of test
func printChain(ctx context.Context, log *eventstore.Reader, c console.Console, chain []eventstore.RecordedEvent) error {
	i := c.Ink()
	fmt.Fprintf(c.Out, "why %s happened\n\n", i.Bold(chain[0].Cause().Of()))
	t := console.Table{Head: []string{"event", "when (UTC)", "what", "who"}}
	for _, e := range chain {
		t.Add(
			console.Painted(e.Cause().Of(), nil),
			console.Painted(e.RecordedAt.UTC().Format("2006-01-02 15:04:05.000"), i.Faint),
			console.Painted(e.Event.Says(), timeline.EventColor(i, e.Name)),
			console.Painted(e.Metadata.Actor, i.Faint),
		)
	}
	t.Print(c)
	root, err := rootSays(ctx, log, chain[len(chain)-1].Metadata)
	if err == nil {
		fmt.Fprintf(c.Out, "\nroot: %s\n", root)
	}
	return err
}

// rootSays tells the root of a chain in words.
func rootSays(ctx context.Context, log *eventstore.Reader, m domain.Metadata) (string, error) {
	switch of := m.Cause.Of(); m.Cause.Kind() {
	case domain.CausedByRequest:
		if m.Request != of {
			of += ", X-Request-ID " + m.Request
		}
		return "the request " + of, nil
	case domain.CausedByWebhook:
		return "the webhook " + of + " of a payment provider", nil
	case domain.CausedByOperator:
		return "the command " + of + " of the program, at a console", nil
	case domain.CausedByEvent, domain.CausedByDeadline: // only a deadline is a root
	}
	stream, version, _ := m.Cause.Event()
	set, err := log.At(ctx, stream, version)
	if err != nil || set.Event == nil {
		return fmt.Sprintf("a moment that %s/%d has set", stream, version), err
	}
	return fmt.Sprintf("a moment that %s/%d has set: %s", stream, version, set.Event.Says()), nil
}

// writeGraph writes the graph of an event to a file, which it names.
func (h Command) writeGraph(ctx context.Context, p *program.Program, c console.Console, position int64) error {
	why, err := p.Sagas.Audit.Why(ctx, projections.System, position)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := graph.Draw(&b, why); err != nil {
		return err
	}
	if err := os.WriteFile(h.Graph, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	fmt.Fprintf(
		c.Out, "%s: %s and %s\n", h.Graph, wording.Count(len(why.Chain)+len(why.Effects), "event"),
		wording.Count(len(why.Calls), "call"),
	)
	if why.IsCut {
		fmt.Fprintln(c.Out, "more has followed; the graph ends with the first of it")
	}
	return nil
}
