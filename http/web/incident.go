package web

import (
	"strconv"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// IncidentList shows incidents in the reader's words.
var IncidentList = List[projections.Incident]{
	Fields: (*projections.Incident).Fields, Wide: true, Cards: Cards{Title: "kind", Note: []string{"reported_at"}},
	More: func(c route.Call, i *projections.Incident, card *Card) {
		w, state := Texts[Readers(c)], "open"
		switch {
		case i.Answer == operations.Ignore:
			state = "ignored"
		case i.IsSettled:
			state = "settled"
		}
		told := notice.Incident(i.ID, i.Kind, i.About, Readers(c))
		card.Path, card.Title, card.Lines = told.URL, told.Title, []string{told.Message}
		card.Badges = []Badge{{Class: state, Text: w["incident_"+state]}}
		if i.Times > 1 {
			card.Badges = append(card.Badges, Badge{Text: w["incident_times"] + ": " + strconv.FormatInt(i.Times, 10)})
		}
	},
}
