package operations

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hostpanel/domain/notice"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// The start page shows what GET /operations/api/v1/overview/ answers
// (docs/operations.md, "In the browser").

// A figure is a number of the page. One with a path leads to the list that shows
// what it counts.
type figure struct {
	Path, Text string
	Count      int64
	IsAlarm    bool
}

func (s *reports) showStart(ctx context.Context, c route.Call) (*route.Document, error) {
	o, err := s.overview(ctx, c)
	if err != nil {
		return nil, err
	}
	restored := "" // the page where the recovery mode of a restored panel is ended; blank: it is not on
	if id := o.backlog.Restored; id != nil {
		restored = notice.IncidentPage(*id)
	}
	w := web.Texts[web.Readers(c)]
	var behind int64
	for _, r := range o.Readers {
		behind = max(behind, r.Lag)
	}
	return s.web.Sheet(c, http.StatusOK, "start", "start_title", map[string]any{
		"Waiting": waitingFigures(w, o), "Today": todayFigures(w, o), "Money": moneyCards(w, o),
		"Checks": o.Checks, "Readers": o.Readers, "Behind": behind, "At": w.Moment("", &o.at, ""), "Wide": true, "Restored": restored,
	})
}

// waitingFigures are what needs a person.
func waitingFigures(w web.Words, o *overview) []figure {
	at := func(list, field, value string) string {
		return web.StorefrontPath + list + "/?" + url.Values{field: {value}}.Encode()
	}
	all := []figure{
		{Path: at("orders", "status", "failed"), Text: w["start_failed_orders"], Count: o.backlog.Failed},
		{Path: at("runs", "status", "parked"), Text: w["start_parked_runs"], Count: o.standing.ParkedRuns},
		{Path: at("incidents", "is_settled", "false"), Text: w["start_incidents"], Count: o.backlog.Incidents},
		{Path: at("inbox", "state", "unmatched"), Text: w["start_unmatched"], Count: o.standing.UnmatchedWebhooks},
		{Path: at("inbox", "state", "parked"), Text: w["start_parked_webhooks"], Count: o.standing.ParkedWebhooks},
		{Path: at("runs", "search", "mail:"), Text: w["start_mails"], Count: o.standing.FailingMails},
	}
	for _, h := range o.Held {
		all = append(all, figure{Path: at("orders", "hold", h.Hold), Text: w["start_held"] + " " + w["hold_"+h.Hold], Count: h.Orders})
	}
	for i := range all {
		all[i].IsAlarm = all[i].Count > 0
	}
	return all
}

func todayFigures(w web.Words, o *overview) []figure {
	return []figure{
		{Text: w["start_placed"], Count: o.today.Placed},
		{Text: w["start_paid"], Count: o.today.Paid},
		{Text: w["start_active"], Count: o.today.Active},
		{Text: w["start_failed"], Count: o.today.Failed, IsAlarm: o.today.Failed > 0},
	}
}

// A moneyCard is the money of one currency: sums, days, and a chart of the days.
type moneyCard struct {
	ID, Currency, About string
	Test                bool
	Sums, Days          []moneyRow
	Chart               web.Chart
}

type moneyRow struct{ Name, At, Received, Returned string }

// moneyCards are a card for each currency in which money has moved.
func moneyCards(w web.Words, o *overview) (all []moneyCard) {
	for i, m := range o.Money {
		if m.days == 1 {
			all = append(all, moneyCard{ID: "money-" + strconv.Itoa(i), Currency: m.currency, Test: m.test})
		}
		card := &all[len(all)-1]
		card.Sums = append(
			card.Sums,
			moneyRow{
				Name: w["start_days_"+strconv.FormatInt(m.days, 10)], Received: w.Minor(m.received, m.currency),
				Returned: w.Minor(m.returned, m.currency),
			},
		)
	}
	for i := range all {
		all[i].draw(w, o)
	}
	return all
}

// draw fills in the days and their chart.
func (m *moneyCard) draw(w web.Words, o *overview) {
	days := make([]web.ChartDay, overviewDays)
	var most int64
	for _, d := range o.backlog.Days {
		ago := o.ago(d.Day)
		if d.Currency != m.Currency || d.Test != m.Test || ago < 0 || ago >= overviewDays {
			continue
		}
		days[overviewDays-1-ago] = web.ChartDay{In: d.Received, Out: d.Returned}
		most = max(most, d.Received, d.Returned)
		if d.Received != 0 || d.Returned != 0 {
			m.Days = append(m.Days, dayRow(w, d))
		}
	}
	m.Chart = web.DrawChart(days)
	m.About = w["start_chart"] + " " + m.Currency + ". " + w["start_chart_most"] + " " + w.Minor(most, m.Currency) + "."
}

func dayRow(w web.Words, d projections.OrderDay) moneyRow {
	return moneyRow{
		Name: w.Date(d.Day), At: d.Day.Format(time.DateOnly), Received: w.Minor(d.Received, d.Currency),
		Returned: w.Minor(d.Returned, d.Currency),
	}
}
