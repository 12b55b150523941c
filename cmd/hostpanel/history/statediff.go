package history

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/projections"
)

// printState prints a record as of a moment, a field a line.
func (h Command) printState(ctx context.Context, p *program.Program, c console.Console, stream domain.Stream, at time.Time) error {
	found, err := p.Sagas.Audit.State(ctx, projections.System, stream, audit.Moment{Version: h.Version, Time: at})
	if domain.CodeOf(err) == domain.NotFound {
		return h.nothing(stream)
	}
	if err != nil {
		return err
	}
	if h.JSON {
		return c.JSON(struct {
			Stream     string          `json:"stream"`
			Version    int             `json:"version"`
			AsOf       time.Time       `json:"as_of"`
			RecordedAt time.Time       `json:"recorded_at"`
			State      json.RawMessage `json:"state"`
			Erased     []string        `json:"erased"`
		}{found.Stream, found.Version, found.AsOf, found.RecordedAt, found.Record, found.Erased})
	}
	var record map[string]json.RawMessage
	if err := json.Unmarshal(found.Record, &record); err != nil {
		return fmt.Errorf("print the state of %s: %w", stream, err)
	}
	i := c.Ink()
	fmt.Fprintf(c.Out, "%s as of %s, after event %d\n\n", i.Bold(found.Stream), found.AsOf.UTC().Format(time.RFC3339), found.Version)
	t := console.Table{Head: []string{"field", "value"}}
	for _, name := range slices.Sorted(maps.Keys(record)) {
		t.Add(console.Painted(name, i.Faint), console.Painted(string(record[name]), nil))
	}
	t.Print(c)
	for _, name := range found.Erased {
		fmt.Fprintf(c.Out, "\n%s was erased\n", name)
	}
	return nil
}

// printDiff prints what differs between two moments, a field a line.
func (h Command) printDiff(ctx context.Context, p *program.Program, c console.Console, stream domain.Stream) error {
	from, err := momentOf(h.Moments[0])
	if err != nil {
		return err
	}
	to, err := momentOf(h.Moments[1])
	if err != nil {
		return err
	}
	changes, err := p.Sagas.Audit.Diff(ctx, projections.System, stream, from, to)
	if domain.CodeOf(err) == domain.NotFound {
		return h.nothing(stream)
	}
	if err != nil {
		return err
	}
	if h.JSON {
		return c.JSON(changeLines(changes))
	}
	i := c.Ink()
	t := console.Table{Head: []string{"field", "from", "to", "when (UTC)", "who"}}
	for _, one := range changes {
		t.Add(
			console.Painted(one.Field, nil), console.Painted(valueText(one.From), i.Faint), console.Painted(valueText(one.To), nil),
			console.Painted(one.RecordedAt.UTC().Format("2006-01-02 15:04:05.000"), i.Faint),
			console.Painted(actorText(one.Actor), i.Faint),
		)
	}
	t.Print(c)
	return nil
}

// A changeLine is a change as --json shows it.
type changeLine struct {
	Field      string          `json:"field"`
	From       json.RawMessage `json:"from"`
	To         json.RawMessage `json:"to"`
	Position   int64           `json:"position"`
	Actor      string          `json:"actor"`
	RecordedAt time.Time       `json:"recorded_at"`
}

func changeLines(changes []audit.Change) []changeLine {
	lines := make([]changeLine, len(changes))
	for i, one := range changes {
		lines[i] = changeLine{one.Field, one.From, one.To, one.Position, actorText(one.Actor), one.RecordedAt}
	}
	return lines
}

func actorText(a audit.Actor) string { return a.Type + ":" + a.ID }

// valueText is a value on a terminal; absent: a dash.
func valueText(v json.RawMessage) string {
	if v == nil {
		return "-"
	}
	return string(v)
}

// momentOf reads a version or a time.
func momentOf(text string) (audit.Moment, error) {
	if version, err := strconv.Atoi(text); err == nil && version > 0 {
		return audit.Moment{Version: version}, nil
	}
	at, err := console.ParseTime(text)
	return audit.Moment{Time: at}, err
}
