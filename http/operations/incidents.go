package operations

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	incidentsPath = operationsPrefix + "incidents/"
	incidentPath  = incidentsPath + "{uuid:uuid}/"
)

// resumedIncident is the answer to a request that was answered before.
func (s *incidents) resumedIncident(ctx context.Context, c route.Call, _ string) (route.Answer, error) {
	i, err := s.shownIncident(ctx, c)
	if err != nil {
		return nil, err
	}
	return i.Fields(), nil
}

// answerRoutes are the answers to differences between the log and the engine
// (docs/sync.md, "In the background").
func (s *incidents) answerRoutes() (all []route.Route) {
	for _, a := range []struct{ answer, title, says string }{
		{operations.Adopt, "Let an incident's record be as the engine has it", "The engine is right: the record takes over its values, or an object that no record is about gets one."},
		{operations.Remake, "Let the engine be as an incident's record", "The panel is right: the engine gets the object again as the record says."},
		{operations.Ignore, "Leave a difference to the engine as it is", "It is not reported again while it lasts."},
	} {
		all = append(all, route.Post(incidentPath+a.answer+"/", a.title, s.answering(a.answer)).As("incident_"+a.answer).Of("Incident").
			With(http.StatusOK).Finding(s.findIncident).Saying(a.says+" Each kind of incident has its own answers, named in offers.").
			Failing(http.StatusConflict, "The incident has no such answer, is settled, or what it is about cannot be taken over (invalid_state).").
			Failing(http.StatusServiceUnavailable, "The engine does not answer (engine_unavailable).").
			Resuming(s.resumedIncident))
	}
	return all
}

func (s *incidents) answering(answer string) func(context.Context, route.Call, *verdict) (*incidentEntry, error) {
	return func(ctx context.Context, c route.Call, v *verdict) (*incidentEntry, error) {
		i := c.Subject.(*incidentEntry) //nolint:forcetypeassert // found by findIncident
		if err := s.admin.Answer(ctx, c.Cause(), i.ID, answer, v.Reason); err != nil {
			return nil, err
		}
		return s.shownIncident(ctx, c)
	}
}

// incidentRoutes are about troubles that no other record tells
// (docs/operations.md, "Incidents").
func (s *incidents) incidentRoutes() []route.Route {
	return []route.Route{
		listing.Pages[incidentEntry](incidentsPath, "Problems that need an operator", listing.Spec{
			Filters: func() field.Set {
				return append(field.Set{
					field.Text("kind", new(string)).Among(operations.IncidentKinds...).Doc("Only of this kind."),
					field.Flag("is_settled", new(bool)).Doc("Only those that are settled, or that are not."),
					field.Int("tenant", new(int64)).Doc("Only those about objects of this tenant."),
				}, listing.Ranges("reported_at")...)
			},
			Ordering: []string{"reported_at", "kind", "times"}, UUIDs: true,
		}, s.listIncidents).As("incident_list"),
		route.Get(incidentPath, "An incident", record.Found[incidentEntry]).As("incident_read").Of("Incident").Finding(s.findIncident),
		route.Post(incidentPath+"settle/", "Settle an incident", s.settleIncident).As("incident_settle").Of("Incident").With(http.StatusOK).
			Finding(s.findIncident).
			Saying("You have seen to it. What ends by itself is settled without you. If the trouble comes back it is reported again. One that is settled stays as it is.").
			Resuming(s.resumedIncident),
		route.Post(incidentPath+"requeue/", "Handle again what an incident is about", s.requeueIncident).As("incident_requeue").Of("Incident").
			With(http.StatusOK).Finding(s.findIncident).
			Saying("The event that a reaction could not handle is handled once more, the webhook that could not be acted on is acted on again. That settles the incident. Work that was done is not repeated.").
			Failing(http.StatusConflict, "Nothing of the incident can be handled again (invalid_state), or it has failed again (failed_again).").
			Resuming(s.resumedIncident),
	}
}

// IncidentAdmin acts on incidents.
type IncidentAdmin interface {
	// HandleAgain handles once more what an incident is about, and settles it. What
	// cannot be handled is refused with domain.Conflict.
	HandleAgain(ctx context.Context, cause domain.Metadata, incident uuid.UUID, reason string) error
	// Answer does what an operator has decided: adopt, remake or ignore. What an
	// incident does not offer is refused with domain.Conflict.
	Answer(ctx context.Context, cause domain.Metadata, incident uuid.UUID, answer, reason string) error
}

func (s *incidents) requeueIncident(ctx context.Context, c route.Call, v *verdict) (*incidentEntry, error) {
	i := c.Subject.(*incidentEntry) //nolint:forcetypeassert // found by findIncident
	if err := s.admin.HandleAgain(ctx, c.Cause(), i.ID, v.Reason); err != nil {
		return nil, err
	}
	return s.shownIncident(ctx, c)
}

func (s *incidents) listIncidents(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[incidentEntry], error) {
	incidents, err := s.callers.Scope(c).Operations().Incidents(ctx, l)
	return record.Map(incidents, err, func(i projections.Incident) incidentEntry { return incidentEntry{i} })
}

func (s *incidents) incident(ctx context.Context, c route.Call, id uuid.UUID) (*incidentEntry, error) {
	i, err := s.callers.Scope(c).Operations().Incident(ctx, id)
	return &incidentEntry{i}, err
}

func (s *incidents) findIncident(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.incident(ctx, c, c.UUID("uuid")))
}

func (s *incidents) shownIncident(ctx context.Context, c route.Call) (*incidentEntry, error) {
	return record.Shown(c, func() (*incidentEntry, error) { return s.incident(ctx, c, c.UUID("uuid")) })
}

func (s *incidents) settleIncident(ctx context.Context, c route.Call, v *verdict) (*incidentEntry, error) {
	i := c.Subject.(*incidentEntry) //nolint:forcetypeassert // found by findIncident
	settle := operations.Settle{ID: i.ID, Reason: v.Reason, At: s.callers.Now()}
	err := record.Persist(c, i, func(i *incidentEntry) error { return record.Execute(ctx, s.commands, c, i.Version, settle) },
		func() (*incidentEntry, error) { return s.incident(ctx, c, i.ID) })
	if err != nil {
		return nil, err
	}
	return s.shownIncident(ctx, c)
}

func anAnswer(f field.Field) field.Field {
	return f.Among(operations.Adopt, operations.Remake, operations.Ignore)
}

// An incidentEntry is an incident as operators see it.
type incidentEntry struct{ projections.Incident }

// Fields are the incident.
func (i *incidentEntry) Fields() field.Set {
	about, err := json.Marshal(i.About)
	if err != nil {
		about = []byte("{}") // texts always encode
	}
	raw, offers := json.RawMessage(about), append([]string{}, operations.Offers(i.Kind)...)
	return field.Set{
		field.UUID("id", &i.ID).ReadOnly(),
		field.Text("kind", &i.Kind).Among(operations.IncidentKinds...).ReadOnly(),
		field.Any("about", &raw).ReadOnly().Doc("What it concerns, by ids: webhook and provider, reader, position and event, stream, projection; of a difference to the engine: tenant, kind, id or engine_id, fields."),
		field.Int("times", &i.Times).ReadOnly().Doc("How often it was reported, each time after it had been settled but the first."),
		field.Flag("is_settled", &i.IsSettled).ReadOnly(),
		field.Texts("offers", &offers, anAnswer).ReadOnly().
			Doc("The answers that it takes: adopt, remake, ignore; none: it is settled by requeue or settle."),
		field.Text("answer", &i.Answer).ReadOnly().Doc("That an operator has given, if it stands."),
		field.Text("reason", &i.Reason).ReadOnly().Doc("For which it was settled."),
		field.Text("settled_by", &i.SettledBy).ReadOnly().Doc("operator:1, or system:incidents if it ended by itself."),
		field.Time("reported_at", &i.ReportedAt).ReadOnly().Doc("Lastly."),
		field.NullTime("settled_at", &i.SettledAt).ReadOnly(),
		field.Time("created_at", &i.CreatedAt).ReadOnly().Doc("When it was reported first."),
		field.Time("updated_at", &i.UpdatedAt).ReadOnly(),
	}
}

func (i *incidentEntry) Tag() string {
	return record.Tag(operations.IncidentCategory, i.ID.String(), i.Version)
}
