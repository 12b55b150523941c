package operations

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/http/caller"
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
		{
			operations.Adopt, "Let an incident's record be as the engine has it",
			"The engine is right: the record takes over its values, or an object that no record is about gets one.",
		},
		{
			operations.Remake, "Let the engine be as an incident's record",
			"The panel is right: the engine gets the object again as the record says.",
		},
		{
			operations.Remove, "Remove a machine that no record is about",
			"The panel is right, which has no such machine: it is removed at the hypervisor with its disk, for good.",
		},
		{operations.Ignore, "Leave a difference to the engine as it is", "It is not reported again while it lasts."},
	} {
		all = append(all, route.Post(incidentPath+a.answer+"/", a.title, s.answering(a.answer)).As("incident_"+a.answer).Of("Incident").
			With(http.StatusOK).Finding(s.findIncident).Saying(a.says+" Each kind of incident has its own answers, named in offers.").
			Failing(
				http.StatusConflict,
				"The incident has no such answer, is settled, or what it is about cannot be taken over (invalid_state).",
			).
			Failing(http.StatusServiceUnavailable, "The engine does not answer (engine_unavailable).").
			Resuming(s.resumedIncident))
	}
	return all
}

func (s *incidents) answering(answer string) func(context.Context, route.Call, *verdict) (*projections.Incident, error) {
	return func(ctx context.Context, c route.Call, v *verdict) (*projections.Incident, error) {
		i := c.Subject.(*projections.Incident) //nolint:forcetypeassert // found by findIncident
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
		listing.Pages[projections.Incident](incidentsPath, "Problems that need an operator", listing.Spec{
			Filters: func() field.Set {
				return append(field.Set{
					field.Text("kind", new(string)).Among(operations.IncidentKinds...).Doc("Only of this kind."),
					field.Flag("is_settled", new(bool)).Doc("Only those that are settled, or that are not."),
					field.Int("tenant", new(int64)).Doc("Only those about objects of this tenant."),
				}, listing.Ranges("reported_at")...)
			},
			Ordering: []string{"reported_at", "kind", "times"}, UUIDs: true,
		}, caller.Reads(s.callers, projections.Scope.Operations, projections.OperationsReader.Incidents)).As("incident_list"),
		route.Get(incidentPath, "An incident", record.Found[projections.Incident]).
			As("incident_read").Of("Incident").Finding(s.findIncident),
		route.Post(incidentPath+"settle/", "Settle an incident", s.settleIncident).As("incident_settle").Of("Incident").With(http.StatusOK).
			Finding(s.findIncident).
			Saying(
				"You have seen to it. What ends by itself is settled without you. If the trouble comes back it is " +
					"reported again. One that is settled stays as it is.",
			).
			Resuming(s.resumedIncident),
		route.Post(incidentPath+
			"requeue/", "Handle again what an incident is about", s.requeueIncident).As("incident_requeue").Of("Incident").
			With(http.StatusOK).Finding(s.findIncident).
			Saying(
				"The event that a reaction could not handle is handled once more, the webhook that could not be "+
					"acted on is acted on again. That settles the incident. Work that was done is not repeated.",
			).
			Failing(
				http.StatusConflict,
				"Nothing of the incident can be handled again (invalid_state), or it has failed again (failed_again).",
			).
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

func (s *incidents) requeueIncident(ctx context.Context, c route.Call, v *verdict) (*projections.Incident, error) {
	i := c.Subject.(*projections.Incident) //nolint:forcetypeassert // found by findIncident
	if err := s.admin.HandleAgain(ctx, c.Cause(), i.ID, v.Reason); err != nil {
		return nil, err
	}
	return s.shownIncident(ctx, c)
}

func (s *incidents) incident(ctx context.Context, c route.Call, id uuid.UUID) (*projections.Incident, error) {
	i, err := s.callers.Scope(c).Operations().Incident(ctx, id)
	return &i, err
}

func (s *incidents) findIncident(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.incident(ctx, c, c.UUID("uuid")))
}

func (s *incidents) shownIncident(ctx context.Context, c route.Call) (*projections.Incident, error) {
	return record.Shown(c, func() (*projections.Incident, error) { return s.incident(ctx, c, c.UUID("uuid")) })
}

func (s *incidents) settleIncident(ctx context.Context, c route.Call, v *verdict) (*projections.Incident, error) {
	i := c.Subject.(*projections.Incident) //nolint:forcetypeassert // found by findIncident
	settle := operations.Settle{ID: i.ID, Reason: v.Reason, At: s.callers.Now()}
	err := record.Persist(c, i, func(i *projections.Incident) error { return record.Execute(ctx, s.commands, c, i.Version, settle) },
		func() (*projections.Incident, error) { return s.incident(ctx, c, i.ID) })
	if err != nil {
		return nil, err
	}
	return s.shownIncident(ctx, c)
}
