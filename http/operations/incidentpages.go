package operations

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
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
		web.View(notice.IncidentsPath, "Problems that need an operator", s.showIncidents).As("incidents_page"),
	}, s.incidentDesk().Routes(incidentPagePath, "incident", "Incident", "An incident with what it is about", "Do something about an incident")...)
}

// An incidentRow is an incident in the list.
type incidentRow struct {
	Path, Title, Message, Status, StatusText, Times string
	At                                              web.Aspect // when it was reported lastly
}

func rowOfIncident(w web.Words, language string, i projections.Incident) incidentRow {
	told := notice.Incident(i.ID, i.Kind, i.About, language)
	row := incidentRow{Path: told.URL, Title: told.Title, Message: told.Message, At: w.Moment("", &i.ReportedAt, "")}
	if i.Times > 1 {
		row.Times = strconv.FormatInt(i.Times, 10)
	}
	switch {
	case i.Answer == operations.Ignore:
		row.Status = "ignored"
	case i.IsSettled:
		row.Status = "settled"
	default:
		row.Status = "open"
	}
	row.StatusText = w["incident_"+row.Status]
	return row
}

// kindOfIncident is a kind in the reader's words.
func kindOfIncident(language string) func(string) string {
	return func(kind string) string {
		return notice.Incident([16]byte{}, kind, nil, language).Title
	}
}

func (s *incidents) showIncidents(ctx context.Context, c route.Call) (*route.Document, error) {
	language := web.Readers(c)
	w := web.Texts[language]
	listing, bar := web.Asked(c, w,
		web.Choice{Name: "kind", Values: operations.IncidentKinds, Says: kindOfIncident(language)},
		web.Choice{Name: "is_settled", Text: "settled_", Values: []string{"false", "true"}, Value: web.IsTrue})
	listing.Order = []projections.Ordering{{Field: "reported_at", Descending: true}}
	found, err := s.callers.Scope(c).Operations().Incidents(ctx, listing)
	if err != nil {
		return nil, err
	}
	rows := make([]incidentRow, len(found.Rows))
	for i, one := range found.Rows {
		rows[i] = rowOfIncident(w, language, one)
	}
	return s.web.Sheet(c, http.StatusOK, "incidents", "incidents_title", web.Paged(c, bar, found.Count, map[string]any{"Incidents": rows}))
}

// incidentDesk is the page of an incident with its forms.
func (s *incidents) incidentDesk() web.ActPage[*incidentEntry] {
	return web.ActPage[*incidentEntry]{
		Web: s.web, Acts: s.acts(), Show: s.showIncident,
		Find: func(ctx context.Context, c route.Call) (*incidentEntry, error) {
			return s.incident(ctx, c, c.UUID("uuid"))
		},
	}
}

// acts are what may be done about an incident: handling again what it is about, an
// answer to a difference, or a word that a person has seen to it.
func (s *incidents) acts() []web.Act[*incidentEntry] {
	reason := reasonInput[*incidentEntry]
	all := []web.Act[*incidentEntry]{{Name: "requeue", IsOpen: canBeHandledAgain, Inputs: reason, Do: web.Pressed(
		func(ctx context.Context, c route.Call, i *incidentEntry, v *verdict) error {
			return s.admin.HandleAgain(ctx, c.Cause(), i.ID, v.Reason)
		})}}
	for _, answer := range []string{operations.Adopt, operations.Remake, operations.Ignore} {
		all = append(all, web.Act[*incidentEntry]{Name: answer, IsOpen: takes(answer), Grave: answer != operations.Ignore, Inputs: reason, Do: web.Pressed(
			func(ctx context.Context, c route.Call, i *incidentEntry, v *verdict) error {
				return s.admin.Answer(ctx, c.Cause(), i.ID, answer, v.Reason)
			})})
	}
	return append(all, web.Act[*incidentEntry]{Name: "settle", IsOpen: func(i *incidentEntry) bool { return !i.IsSettled }, Inputs: reason, Do: web.Pressed(
		func(ctx context.Context, c route.Call, _ *incidentEntry, v *verdict) error {
			_, err := s.settleIncident(ctx, c, v)
			return err
		})})
}

func canBeHandledAgain(i *incidentEntry) bool {
	return !i.IsSettled && slices.Contains([]string{operations.ReactionFailed, operations.WebhookParked, operations.WebhookUnmatched}, i.Kind)
}

// takes tells whether an incident takes an answer now.
func takes(answer string) func(*incidentEntry) bool {
	return func(i *incidentEntry) bool {
		isOpen := !i.IsSettled || i.Answer == operations.Ignore && answer != operations.Ignore
		return isOpen && slices.Contains(operations.Offers(i.Kind), answer)
	}
}

// showIncident is the page of an incident.
func (s *incidents) showIncident(_ context.Context, c route.Call, i *incidentEntry, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	language := web.Readers(c)
	w := web.Texts[language]
	return s.web.Sheet(c, back.StatusOf(), "incident", "incident_title", map[string]any{
		"Incident": rowOfIncident(w, language, i.Incident), "About": aboutIncident(w, i.About), "Facts": incidentFacts(w, i), "Acts": acts, "Wide": true,
	})
}

// incidentFacts are when it was reported, and how it ended.
func incidentFacts(w web.Words, i *incidentEntry) []web.Aspect {
	facts := []web.Aspect{
		w.Moment(w["incident_first"], &i.CreatedAt, ""), w.Moment(w["incident_lastly"], &i.ReportedAt, ""),
		{Name: w["incident_times"], Text: strconv.FormatInt(i.Times, 10)},
	}
	if i.SettledAt != nil {
		facts = append(facts, w.Moment(w["incident_settled_at"], i.SettledAt, ""))
	}
	answer := ""
	if i.Answer != "" {
		answer = w["answer_"+i.Answer]
	}
	return append(facts, web.Told(web.Aspect{Name: w["incident_answer"], Text: answer}, web.Aspect{Name: w["label_reason"], Text: i.Reason},
		web.Aspect{Name: w["incident_by"], Text: i.SettledBy})...)
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
