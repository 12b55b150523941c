package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain/field"
	desk "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// incidents is what operators have to see to, and what became of it
// (docs/operations.md, "Incidents"). A trouble that comes back has the row
// that it had.
var incidents = New("incidents", `
	create table incidents (
		id          uuid    primary key,
		kind        text    not null,
		about       jsonb   not null,
		times       bigint  not null default 1, -- that it was reported after it had been settled, and the first
		is_settled  boolean not null default false,
		answer      text    not null default '', -- of an operator: adopt, remake, remove, ignore; blank: none
		reason      text    not null default '', -- for which it was settled
		settled_by  text    not null default '', -- whoever did
		reported_at timestamptz not null,        -- lastly
		settled_at  timestamptz,
		created_at  timestamptz not null,
		updated_at  timestamptz not null,
		version     int     not null -- of the incident's stream
	) with (fillfactor = 90);
	create index incidents_newest on incidents (created_at desc, id desc);
	create index incidents_reported on incidents (kind, reported_at);
	create index incidents_open on incidents (kind, (about ->> 'tenant')) where not is_settled or answer = 'ignore'`,

	On(func(at eventstore.RecordedEvent, e desk.IncidentReported) Change {
		return upsert("incidents", its(at), Row{
			{"kind", e.Kind},
			{"about", texts(e.About)},
			{"reported_at", now},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		}, Row{
			{"about", excluded("about")},
			{"times", plus("times", 1)},
			{"is_settled", no},
			{"answer", word("")},
			{"reason", word("")},
			{"settled_by", word("")},
			{"reported_at", excluded("reported_at")},
			{"settled_at", null},
			{"updated_at", excluded("updated_at")},
			{"version", excluded("version")},
		})
	}),
	On(func(at eventstore.RecordedEvent, e desk.IncidentSettled) Change { return settled(at, "", e.Reason) }),
	On(func(at eventstore.RecordedEvent, e desk.IncidentAnswered) Change {
		return settled(at, e.Answer, e.Reason)
	}),
)

// settled is the end of an incident, for now.
func settled[A, R ~string](at eventstore.RecordedEvent, answer A, reason R) Change {
	return update("incidents", its(at), changed(at, Row{
		{"is_settled", true}, {"answer", answer}, {"reason", reason}, {"settled_by", at.Metadata.Actor}, {"settled_at", now},
	}))
}

// An OperationsReader reads incidents and the state of the read tables.
type OperationsReader Scope

// Operations returns the reader of operations.
func (s Scope) Operations() OperationsReader { return OperationsReader(s) }

// An Incident is a trouble that operators have to see to, or had to.
type Incident struct {
	ID         uuid.UUID
	Kind       string
	About      map[string]string // ids
	Times      int64             // that it was told
	IsSettled  bool
	Answer     string // of an operator, that stands: adopt, remake, ignore; "": none
	Reason     string
	SettledBy  string
	ReportedAt time.Time // lastly
	SettledAt  *time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int // of the incident's stream
}

// Tag changes with the incident.
func (i *Incident) Tag() string { return Tag(desk.IncidentCategory, i.ID.String(), i.Version) }

// Fields are the incident.
func (i *Incident) Fields() field.Set {
	about, err := json.Marshal(i.About)
	if err != nil {
		about = []byte("{}") // texts always encode
	}
	raw, offers := json.RawMessage(about), append([]string{}, desk.Offers(i.Kind)...)
	anAnswer := func(f field.Field) field.Field {
		return f.Among(desk.Answers...)
	}
	return field.Set{
		field.UUID("id", &i.ID).ReadOnly().Headed("incident"),
		field.Text("kind", &i.Kind).Among(desk.IncidentKinds...).ReadOnly().Fault(),
		field.Any("about", &raw).ReadOnly().
			Doc(
				"What it concerns, by ids: webhook and provider, reader, position and event, stream, projection; " +
					"of a difference to the engine: tenant, kind, id or engine_id, fields; " +
					"of a machine without a record: server, name, external, service.",
			),
		field.Int("times", &i.Times).ReadOnly().
			Doc("How often it was reported, each time after it had been settled but the first.").Labelled("incident_times"),
		field.Flag("is_settled", &i.IsSettled).ReadOnly(),
		field.Texts("offers", &offers, anAnswer).ReadOnly().
			Doc("The answers that it takes: adopt, remake, remove, ignore; none: it is settled by requeue or settle."),
		field.Text("answer", &i.Answer).ReadOnly().
			Doc("That an operator has given, if it stands.").Worded("answer_").Labelled("incident_answer"),
		field.Text("reason", &i.Reason).ReadOnly().Doc("For which it was settled.").Headed("settled").Labelled("label_reason"),
		field.Text("settled_by", &i.SettledBy).ReadOnly().
			Doc("operator:1, or system:incidents if it ended by itself.").Labelled("incident_by"),
		field.Time("reported_at", &i.ReportedAt).ReadOnly().Doc("Lastly.").Headed("reported").Labelled("incident_lastly"),
		field.NullTime("settled_at", &i.SettledAt).ReadOnly().Labelled("incident_settled_at"),
		field.Time("created_at", &i.CreatedAt).ReadOnly().Doc("When it was reported first.").Labelled("incident_first"),
		field.Time("updated_at", &i.UpdatedAt).ReadOnly(),
	}
}

const incidentColumns = `i.id, i.kind, i.about, i.times, i.is_settled, i.answer, i.reason, i.settled_by, i.reported_at,
	i.settled_at, i.created_at, i.updated_at, i.version`

var incidentsBy = listRules{
	columns: incidentColumns, from: "incidents i", id: "i.id",
	fields: with(fieldsOf("i", "kind", "is_settled", "times", "reported_at", "settled_at"), "tenant", "(i.about ->> 'tenant')::bigint"),
}

// Incidents lists them to operators: by kind, is_settled, reported_at, tenant.
func (s OperationsReader) Incidents(ctx context.Context, l Listing) (Listed[Incident], error) {
	return part[Incident](ctx, s.db, incidentsBy, s.caller.operators(), l)
}

// Incident returns one to operators.
func (s OperationsReader) Incident(ctx context.Context, id uuid.UUID) (Incident, error) {
	w := s.caller.operators()
	w.and("i.id = ?", id)
	return one[Incident](ctx, s.db, "Incident", `select `+incidentColumns+` from incidents i`, w)
}

// OpenIncidents counts those of each kind that are not settled, for operators.
func (s OperationsReader) OpenIncidents(ctx context.Context) (map[string]int64, error) {
	type row struct {
		Kind  string
		Count int64
	}
	w := s.caller.operators()
	w.conditions = append(w.conditions, "not is_settled")
	rows, err := list[row](ctx, s.db, `select kind, count(*) from incidents`, w, " group by kind")
	counts := map[string]int64{}
	for _, r := range rows {
		counts[r.Kind] = r.Count
	}
	return counts, err
}

// IncidentsReported counts for operators how many troubles of a kind were told
// lastly after one moment and up to another.
func (s OperationsReader) IncidentsReported(ctx context.Context, kind string, after, until time.Time) (int64, error) {
	w := s.caller.operators()
	w.and("kind = ?", kind)
	w.and("reported_at > ?", after)
	w.and("reported_at <= ?", until)
	return value[int64](ctx, s.db, `select count(*) from incidents`, w, "")
}

// DifferencesOf are the incidents about a tenant's objects at the engine that are
// open, or ignored, for operators.
func (s OperationsReader) DifferencesOf(ctx context.Context, tenant int64) ([]Incident, error) {
	w := s.caller.operators()
	w.and("i.kind = any(?)", desk.Differences)
	w.and("i.about ->> 'tenant' = ?", strconv.FormatInt(tenant, 10))
	w.conditions = append(w.conditions, "(not i.is_settled or i.answer = 'ignore')")
	return list[Incident](ctx, s.db, `select `+incidentColumns+` from incidents i`, w, "")
}

// MachineDifferences are the incidents about machines that are open, or ignored, for
// operators.
func (s OperationsReader) MachineDifferences(ctx context.Context) ([]Incident, error) {
	w := s.caller.operators()
	w.and("i.kind = any(?)", desk.MachineDifferences)
	w.conditions = append(w.conditions, "(i.about ? 'server' or i.about ->> 'kind' = 'vm')", "(not i.is_settled or i.answer = 'ignore')")
	return list[Incident](ctx, s.db, `select `+incidentColumns+` from incidents i`, w, "")
}

// An OrderDay is what happened to orders of one currency on one day.
type OrderDay struct {
	Day      time.Time
	Currency string
	Test     bool // no real money
	Placed   int64
	Paid     int64
	Active   int64
	Failed   int64
	Received int64 // minor units
	Returned int64 // minor units
}

// A Backlog is what needs a person, and what happened to orders.
type Backlog struct {
	Days      []OrderDay           // by day and currency
	Held      map[order.Hold]int64 // orders that a person has to look at, by reason
	Failed    int64                // orders whose setup has stopped
	Incidents int64                // that are open
	Restored  *uuid.UUID           // the incident of the recovery mode; nil: it is not on
}

// Backlog reads it for operators in one round trip, with all days since one.
func (s OperationsReader) Backlog(ctx context.Context, since time.Time) (found Backlog, err error) {
	type held struct {
		Hold   order.Hold
		Orders int64
	}
	var holds []held
	err = s.db.ask(ctx, func(b *pgx.Batch) {
		w := s.caller.operators()
		w.and("day >= ?", since.UTC().Truncate(24*time.Hour))
		b.Queue(
			`select day, currency, test, placed, paid, active, failed, received, returned from order_days`+w.String()+
				` order by day, currency, test`,
			w.args...,
		).Query(filled(&found.Days))
		w = s.caller.operators()
		b.Queue(
			`select hold, count(*) as orders from (select unnest(holds) as hold from orders` + w.String() +
				` and holds <> '{}') h group by hold`,
		).Query(filled(&holds))
		b.Queue(`select count(*) from orders` + w.String() + ` and status = 'failed'`).QueryRow(into(&found.Failed))
		b.Queue(
			`select count(*), (array_agg(id) filter (where kind = '` + desk.RecoveryMode + `'))[1] from incidents` +
				w.String() + ` and not is_settled`,
		).
			QueryRow(into(&found.Incidents, &found.Restored))
	})
	if err != nil {
		return found, fmt.Errorf("read what needs a person: %w", err)
	}
	found.Held = make(map[order.Hold]int64, len(holds))
	for _, h := range holds {
		found.Held[h.Hold] = h.Orders
	}
	return found, nil
}
