package operations

import (
	"context"
	"maps"
	"net/url"
	"slices"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Incidents as operators see them in a browser (docs/operations.md, "In the browser").

const (
	incidentPagePath = notice.IncidentsPath + "{uuid:uuid}/"
)

func (s *incidents) pageRoutes() []route.Route {
	return append([]route.Route{
		web.ViewList(s.list(), notice.IncidentsPath, "Problems that need an operator").As("incidents_page"),
	}, web.ActRoutes(s.incidentDesk(), incidentPagePath, "incident", "Incident", "An incident with what it is about",
		"Do something about an incident",
	)...)
}

// list is the page of what operators have to see to.
func (s *incidents) list() web.List[projections.Incident] {
	l := web.IncidentList
	l.Web, l.Name, l.Read = s.web, "incidents", caller.Reads(
		s.callers, projections.Scope.Operations, projections.OperationsReader.Incidents,
	)
	l.Order = []projections.Ordering{{Field: "reported_at", Descending: true}}
	l.Choices = []web.Choice{
		{Name: "kind", Values: operations.IncidentKinds, Says: kindOfIncident},
		{Name: "is_settled", Text: "settled_", Values: []string{"false", "true"}, Value: web.IsTrue},
	}
	return l
}

// kindOfIncident is a kind in the reader's words.
func kindOfIncident(w web.Words, kind string) string {
	return notice.Incident([16]byte{}, kind, nil, w.Language()).Title
}

// incidentDesk is the page of an incident with its forms.
func (s *incidents) incidentDesk() web.ActPage[*projections.Incident] {
	return web.ActPage[*projections.Incident]{
		Web: s.web, Acts: s.acts(), Show: s.showIncident,
		Find: func(ctx context.Context, c route.Call) (*projections.Incident, error) {
			return s.incident(ctx, c, c.UUID("uuid"))
		},
	}
}

// acts are what may be done about an incident: handling again what it is about, an
// answer to a difference, or a word that a person has seen to it.
func (s *incidents) acts() []web.Act[*projections.Incident] {
	reason := reasonInput[*projections.Incident]
	all := []web.Act[*projections.Incident]{{Name: "requeue", IsOpen: canBeHandledAgain, Inputs: reason, Do: web.Pressed(
		func(ctx context.Context, c route.Call, i *projections.Incident, v *verdict) error {
			return s.admin.HandleAgain(ctx, c.Cause(), i.ID, v.Reason)
		})}}
	for _, answer := range operations.Answers {
		isGrave := answer != operations.Ignore
		all = append(all, web.Act[*projections.Incident]{
			Name: answer, IsOpen: takes(answer), Grave: isGrave, Inputs: reason,
			Do: web.Pressed(func(ctx context.Context, c route.Call, i *projections.Incident, v *verdict) error {
				return s.admin.Answer(ctx, c.Cause(), i.ID, answer, v.Reason)
			}),
		})
	}
	isOpen := func(i *projections.Incident) bool { return !i.IsSettled }
	return append(all, web.Act[*projections.Incident]{Name: "settle", IsOpen: isOpen, Inputs: reason, Do: web.Pressed(
		func(ctx context.Context, c route.Call, _ *projections.Incident, v *verdict) error {
			_, err := s.settleIncident(ctx, c, v)
			return err
		})})
}

func canBeHandledAgain(i *projections.Incident) bool {
	return !i.IsSettled && slices.Contains(
		[]string{operations.ReactionFailed, operations.WebhookParked, operations.WebhookUnmatched}, i.Kind,
	)
}

// takes tells whether an incident takes an answer now.
func takes(answer string) func(*projections.Incident) bool {
	return func(i *projections.Incident) bool {
		isOpen := !i.IsSettled || i.Answer == operations.Ignore && answer != operations.Ignore
		return isOpen && slices.Contains(operations.Offers(i.Kind), answer)
	}
}

// showIncident is the page of an incident.
func (s *incidents) showIncident(
	_ context.Context, c route.Call, i *projections.Incident, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, back.StatusOf(), "incident", "incident_title", map[string]any{
		"Incident": web.CardsOf(c, web.IncidentList, []projections.Incident{*i})[0], "About": aboutIncident(w, i.About),
		"Facts": w.Values(i.Fields(), "created_at", "reported_at", "times", "settled_at", "answer", "reason", "settled_by"), "Acts": acts,
		"Wide": true,
	})
}

// aboutIncident names what an incident concerns, with the ways to the pages about it.
func aboutIncident(w web.Words, about map[string]string) (all []web.Aspect) {
	ways := map[string]func(string) string{
		"webhook": func(id string) string { return web.InboxPath + id + "/" },
		"queue":   func(string) string { return web.RunsPath + "?status=waiting" },
	}
	for _, name := range slices.Sorted(maps.Keys(about)) {
		one := web.Aspect{Name: w["about_"+name], Text: about[name]}
		if way, leads := ways[name]; leads {
			one.Path = way(url.PathEscape(about[name]))
		}
		all = append(all, one)
	}
	return all
}
