package projections

import (
	"testing"
	"time"

	"hostpanel/domain"
	desk "hostpanel/domain/operations"
)

var (
	parkedWebhook = desk.Trouble{Kind: desk.WebhookParked, Subject: "7", About: map[string]string{"webhook": "7", "provider": "stripe"}}
	brokenLog     = desk.Trouble{Kind: desk.LogBroken, Subject: "3", About: map[string]string{"position": "3"}}
)

func TestAnIncidentIsOpenUntilItIsSettledAndOpenAgainWhenItComesBack(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	now := func() Incident {
		t.Helper()
		i, err := p.For(System).Operations().Incident(t.Context(), parkedWebhook.ID())
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	p.do(t, parkedWebhook.Report(noon))
	first := now()
	if first.IsSettled || first.Times != 1 || first.About["webhook"] != "7" || first.SettledAt != nil {
		t.Fatalf("%+v", first)
	}
	p.do(t, parkedWebhook.Settle("replayed", noon))
	if i := now(); !i.IsSettled || i.Reason != "replayed" || i.SettledBy != "test" || i.SettledAt == nil {
		t.Fatalf("%+v", i)
	}
	p.do(t, parkedWebhook.Report(noon))
	if i := now(); i.IsSettled || i.Times != 2 || i.SettledAt != nil || i.Reason != "" ||
		!i.CreatedAt.Equal(first.CreatedAt) || !i.ReportedAt.After(first.ReportedAt) {
		t.Fatalf("%+v", i)
	}
}

func TestIncidentsAreForOperatorsAlone(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, parkedWebhook.Report(noon), brokenLog.Report(noon))
	p.do(t, brokenLog.Settle("restored", noon))
	for _, c := range []struct {
		filters []Filter
		want    int64
	}{
		{nil, 2},
		{[]Filter{{"is_settled", "=", false}}, 1},
		{[]Filter{{"kind", "=", desk.LogBroken}}, 1},
		{[]Filter{{"kind", "=", desk.ProviderDown}}, 0},
		{[]Filter{{"created_at", ">=", time.Now().Add(-time.Minute)}, {"is_settled", "=", true}}, 1},
	} {
		found, err := p.For(Caller{User: 1, Superuser: true}).Operations().Incidents(t.Context(), Listing{Filters: c.filters})
		if err != nil || found.Count != c.want || len(found.Rows) != int(c.want) {
			t.Errorf("%v: %d, %v", c.filters, found.Count, err)
		}
	}
	open, err := p.For(System).Operations().OpenIncidents(t.Context())
	if err != nil || len(open) != 1 || open[desk.WebhookParked] != 1 {
		t.Error(open, err)
	}
	now := time.Now()
	for kind, want := range map[string]int64{desk.LogBroken: 1, desk.ProviderDown: 0} {
		if n, err := p.For(System).Operations().IncidentsReported(
			t.Context(), kind, now.Add(-time.Hour), now.Add(time.Hour),
		); err != nil || n != want {
			t.Errorf("%s: %d, %v", kind, n, err)
		}
	}
	if n, err := p.For(System).Operations().IncidentsReported(
		t.Context(), desk.LogBroken, now.Add(time.Minute), now.Add(time.Hour),
	); err != nil || n != 0 {
		t.Error(n, err)
	}
	if found, err := p.For(ana).Operations().Incidents(t.Context(), Listing{}); err != nil || found.Count != 0 {
		t.Error(found, err)
	}
	if _, err := p.For(ana).Operations().Incident(t.Context(), parkedWebhook.ID()); domain.CodeOf(err) != domain.NotFound {
		t.Error(err)
	}
}
