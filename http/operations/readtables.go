package operations

import (
	"context"
	"net/http"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

func (s *reports) readTablesRoute() route.Route {
	return route.Get(operationsPrefix+"read-tables/", "How far the read tables and the readers of the log are", s.readTables).
		As("read_tables").Caching("no-store").Saying("A live table changes with the log and is never behind.")
}

func (s *reports) projectionsRoute() route.Route {
	return route.List(operationsPrefix+"projections/", "The read tables and how far behind the log they are", s.projections).
		As("projections").Caching("no-store").
		Saying("While one is rebuilt, its position is that of the new table, and the old one serves. `hostpanel projections rebuild` builds them anew.")
}

func (s *reports) projections(ctx context.Context, c route.Call) ([]projectionEntry, error) {
	states, err := s.Scope(c).States(ctx)
	entries := make([]projectionEntry, len(states))
	for i, state := range states {
		entries[i] = projectionEntry{state}
	}
	return entries, err
}

// A projectionEntry is a read table as programs watch it.
type projectionEntry struct{ projections.State }

// Fields are the table.
func (p *projectionEntry) Fields() field.Set {
	behind := p.Head - p.Position
	return field.Set{
		field.Text("name", &p.Name).ReadOnly(),
		field.Text("status", &p.Status).Among(tableStates...).ReadOnly(),
		field.Int("position", &p.Position).ReadOnly().Doc("Of the last event that it knows."),
		field.Int("head", &p.Head).ReadOnly().Doc("Position of the last event of the log."),
		field.Int("lag_events", &behind).ReadOnly(),
		field.Int("lag_seconds", &p.LagSeconds).ReadOnly().Doc("Between the last event that it knows and the last one of the log."),
		field.Time("updated_at", &p.UpdatedAt).ReadOnly(),
	}
}

// A readTables is how far those are that follow the log.
type readTables struct {
	head    int64
	Tables  []tableEntry
	Readers []logReaderEntry
}

func (s *reports) readTables(ctx context.Context, c route.Call) (*readTables, error) {
	states, err := s.Scope(c).States(ctx)
	if err != nil {
		return nil, err
	}
	readers, err := s.Watch.Readers(ctx)
	if err != nil {
		return nil, err
	}
	found := &readTables{}
	for _, state := range states {
		found.head = max(found.head, state.Head)
		found.Tables = append(found.Tables, tableEntry{state})
	}
	for _, one := range readers {
		found.head = max(found.head, one.Position+one.Behind)
		found.Readers = append(found.Readers, logReaderEntry{one})
	}
	return found, nil
}

// Fields are the tables and the readers.
func (r *readTables) Fields() field.Set {
	return field.Set{
		field.Int("log_position", &r.head).ReadOnly().Doc("Of the last event."),
		field.Objects("tables", &r.Tables),
		field.Objects("readers", &r.Readers).Doc("What reads the log besides the tables: reactions, and the verification."),
	}
}

// A tableEntry is a read table.
type tableEntry struct{ projections.State }

// Fields are the table.
func (t *tableEntry) Fields() field.Set {
	behind := t.Head - t.Position
	return field.Set{
		field.Text("name", &t.Name).ReadOnly(),
		field.Text("status", &t.Status).Among(tableStates...).ReadOnly(),
		field.Int("position", &t.Position).ReadOnly().Doc("Of the last event that it knows."),
		field.Int("events_behind", &behind).ReadOnly(),
		field.Time("updated_at", &t.UpdatedAt).ReadOnly(),
	}
}

var tableStates = []string{"live", "rebuilding", "failed"}

// A logReaderEntry is a reader of the log.
type logReaderEntry struct{ operations.LogReader }

// Fields are the reader.
func (r *logReaderEntry) Fields() field.Set {
	return field.Set{
		field.Text("name", &r.Name).ReadOnly(),
		field.Int("position", &r.Position).ReadOnly().Doc("Of the last event that it has seen."),
		field.Int("events_behind", &r.Behind).ReadOnly(),
		field.Flag("is_stuck", &r.IsStuck).ReadOnly().Doc("Whether it has unread events and has not moved for a minute. /readyz fails then."),
	}
}

// A followerRow is a read table, or a reader, on the page.
type followerRow struct {
	Name, State, StateText, Position, Behind string
	At                                       web.Aspect // the last change
}

// stateClassesOfTables are how the states of tables look.
var stateClassesOfTables = map[string]string{"live": "active", "rebuilding": "provisioning", "failed": "failed"}

// showReadTables is the page of the tables and the readers (docs/operations.md, "In the
// browser").
func (s *reports) showReadTables(ctx context.Context, c route.Call) (*route.Document, error) {
	found, err := s.readTables(ctx, c)
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	var tables, readers []followerRow
	for _, t := range found.Tables {
		tables = append(tables, followerRow{
			Name: t.Name, State: stateClassesOfTables[t.Status], StateText: wordOf(w, "table_is_", t.Status),
			Position: strconv.FormatInt(t.Position, 10), Behind: strconv.FormatInt(t.Head-t.Position, 10), At: w.Moment("", &t.UpdatedAt, ""),
		})
	}
	for _, r := range found.Readers {
		row := followerRow{
			Name: r.Name, State: "active", StateText: w["reader_moves"], Position: strconv.FormatInt(r.Position, 10), Behind: strconv.FormatInt(r.Behind, 10),
		}
		if r.IsStuck {
			row.State, row.StateText = "failed", w["reader_stands"]
		}
		readers = append(readers, row)
	}
	return s.Sheet(c, http.StatusOK, "read_tables", "read_tables_title", map[string]any{
		"Head": found.head, "Tables": tables, "Readers": readers, "Wide": true,
	})
}
