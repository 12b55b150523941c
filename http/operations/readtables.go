package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// findTable refuses the name of a table that there is not.
func findTable(_ context.Context, c route.Call) (any, string, error) {
	return nil, "", projections.CheckName(c.Var("name"))
}

// A rebuildJob is a rebuild of a read table that has been asked for.
type rebuildJob struct {
	id                 uuid.UUID
	status, projection string
}

// Fields are the job.
func (j *rebuildJob) Fields() field.Set {
	return field.Set{
		field.UUID("job_id", &j.id).ReadOnly().Doc("Of the operation, whose result tells what differed."),
		field.Text("status", &j.status).ReadOnly(),
		field.Text("projection", &j.projection).ReadOnly(),
	}
}

func (s *reports) rebuild(ctx context.Context, c route.Call, _ *route.Nothing) (*rebuildJob, error) {
	o, err := s.rebuilds.QueueRebuild(ctx, c.Cause(), caller.Of(c).ID, c.Var("name"))
	if err != nil {
		return nil, err
	}
	c.Location(hosting.OperationPath(o.ID))
	return &rebuildJob{o.ID, o.Status, o.Projection}, nil
}

// resumeRebuild answers a repeated request whose first answer was lost.
func (s *reports) resumeRebuild(_ context.Context, c route.Call, location string) (route.Answer, error) {
	id, err := hosting.OperationAt(location)
	if err != nil {
		return nil, err
	}
	return (&rebuildJob{id, string(hosting.OperationQueuedStatus), c.Var("name")}).Fields(), nil
}

func (s *reports) projections(ctx context.Context, c route.Call) ([]projections.State, error) {
	return s.callers.Scope(c).Operations().States(ctx)
}

// A readTables is how far those are that follow the log.
type readTables struct {
	head    int64
	Tables  []tableEntry
	Readers []logReaderEntry
}

func (s *reports) readTables(ctx context.Context, c route.Call) (*readTables, error) {
	states, err := s.callers.Scope(c).Operations().States(ctx)
	if err != nil {
		return nil, err
	}
	readers, err := s.watch.Readers(ctx)
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
		field.Text("status", &t.Status).Among(projections.TableStates...).ReadOnly(),
		field.Int("position", &t.Position).ReadOnly().Doc("Of the last event that it knows."),
		field.Int("events_behind", &behind).ReadOnly(),
		field.Time("updated_at", &t.UpdatedAt).ReadOnly(),
	}
}

// A logReaderEntry is a reader of the log.
type logReaderEntry struct{ operations.LogReader }

// Fields are the reader.
func (r *logReaderEntry) Fields() field.Set {
	return field.Set{
		field.Text("name", &r.Name).ReadOnly(),
		field.Int("position", &r.Position).ReadOnly().Doc("Of the last event that it has seen."),
		field.Int("events_behind", &r.Behind).ReadOnly(),
		field.Flag("is_stuck", &r.IsStuck).ReadOnly().Doc(
			"Whether it has unread events and has not moved for a minute. /readyz fails then.",
		),
	}
}

// A followerRow is a read table, or a reader, on the page.
type followerRow struct {
	Name, State, StateText, Position, Behind string
	At                                       web.Aspect  // the last change
	Latest                                   *rebuildRow // nil: no operator has asked for any
	Rebuild                                  *web.Form   // nil: it is being rebuilt, or is no table
}

// A rebuildRow is the last rebuild that an operator has asked for.
type rebuildRow struct {
	State, StateText, Different string
	At                          web.Aspect
	Differences                 []string
}

func rowOfRebuild(w web.Words, o *projections.Operation) *rebuildRow {
	at := &o.CreatedAt
	if o.IsOver() {
		at = o.FinishedAt
	}
	row := &rebuildRow{
		State: operationLooks[o.Status], StateText: w["rebuild_is_"+o.Status],
		Different: string(o.Result["different"]), At: w.Moment("", at, ""),
	}
	var found []projections.Difference
	if json.Unmarshal(o.Result["differences"], &found) == nil {
		for _, d := range found {
			columns := ""
			if len(d.Columns) > 0 {
				columns = " (" + strings.Join(d.Columns, ", ") + ")"
			}
			row.Differences = append(row.Differences, d.Table+" "+d.Key+": "+wordOf(w, "row_is_", d.What)+columns)
		}
	}
	return row
}

// readTablesDesk is the page with a form for each table.
func (s *reports) readTablesDesk() web.FormPage {
	return web.FormPage{Show: s.showReadTables, Forms: map[string]web.FormHandler{"rebuild": s.pressRebuild}}
}

func (s *reports) pressRebuild(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	name := sent.Get("of")
	if projections.CheckName(name) != nil {
		return nil, domain.RefuseField("of", fmt.Sprintf("%q is not a valid choice.", name))
	}
	_, _, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) error {
		_, err := s.rebuilds.QueueRebuild(ctx, c.Cause(), caller.VisitOf(c).Who.ID, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.web.Done(web.ReadTablesPath, "rebuild"), nil
}

// stateClassesOfTables are how the states of tables look.
var stateClassesOfTables = map[string]string{"live": "active", "rebuilding": "provisioning", "failed": "failed"}

// showReadTables is the page of the tables and the readers (docs/operations.md, "In the
// browser").
func (s *reports) showReadTables(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	found, err := s.readTables(ctx, c)
	if err != nil {
		return nil, err
	}
	latest, err := s.callers.Scope(c).Operations().LatestRebuilds(ctx)
	if err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	tables := make([]followerRow, len(found.Tables))
	for i, t := range found.Tables {
		tables[i] = s.rowOfTable(c, w, t, latest, back)
	}
	return s.web.Sheet(c, back.StatusOf(), "read_tables", "read_tables_title", map[string]any{
		"Head": found.head, "Tables": tables, "Readers": rowsOfReaders(w, found.Readers), "Wide": true,
	})
}

// rowOfTable is a table with its last rebuild, and with a form for another one.
func (s *reports) rowOfTable(c route.Call, w web.Words, t tableEntry, latest []projections.Operation, back *web.Returned) followerRow {
	row := followerRow{
		Name: t.Name, State: stateClassesOfTables[t.Status], StateText: wordOf(w, "table_is_", t.Status),
		Position: strconv.FormatInt(t.Position, 10), Behind: strconv.FormatInt(t.Head-t.Position, 10), At: w.Moment("", &t.UpdatedAt, ""),
	}
	i := slices.IndexFunc(latest, func(o projections.Operation) bool { return o.Projection == t.Name })
	if i >= 0 {
		row.Latest = rowOfRebuild(w, &latest[i])
	}
	if i < 0 || latest[i].IsOver() {
		f := s.web.Fill(c, web.Form{Name: "rebuild", Of: t.Name, Action: web.ReadTablesPath, Inputs: []web.Input{web.NumberInput()}}, back)
		row.Rebuild = &f
	}
	return row
}

func rowsOfReaders(w web.Words, all []logReaderEntry) (readers []followerRow) {
	for _, r := range all {
		row := followerRow{
			Name: r.Name, State: "active", StateText: w["reader_moves"], Position: strconv.FormatInt(r.Position, 10),
			Behind: strconv.FormatInt(r.Behind, 10),
		}
		if r.IsStuck {
			row.State, row.StateText = "failed", w["reader_stands"]
		}
		readers = append(readers, row)
	}
	return readers
}
