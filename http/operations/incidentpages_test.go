package operations_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/notice"
	"hostpanel/paneltest"
)

// An operator reads what an incident is about, and settles it.
func TestAnOperatorSettlesAnIncidentInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := notice.IncidentPage(paneltest.Lonely.ID())
	paneltest.Has(t, b.Get("/storefront/incidents/").Body.String(), page, "A webhook was set aside",
		notice.IncidentPage(paneltest.ChangedAtEngine.ID()), `<span class="count">2</span>`)
	if text := b.Get("/storefront/incidents/?kind=engine_changed&is_settled=false").Body.String(); strings.Contains(text,
		page) {
		t.Error("incidents of another kind are shown")
	}
	paneltest.Has(t, b.Get(page).Body.String(), "Acting on webhook 7 of test has failed too often.",
		`href="/storefront/inbox/7/"`, "Handle it again", "Settle it")
	if w := b.Send("settle"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	paneltest.Goes(t, b.Send("settle", "reason", "the provider has sent it again"), page)
	text := b.Get(page).Body.String()
	paneltest.Has(t, text, "The incident is settled.", "the provider has sent it again", `badge settled">Settled`)
	if strings.Contains(text, "Settle it") {
		t.Error("what is settled can be settled again")
	}
	paneltest.Has(t, b.Get("/storefront/incidents/?is_settled=true").Body.String(), page)

	page = notice.IncidentPage(paneltest.ChangedAtEngine.ID())
	paneltest.Has(t, b.Get(page).Body.String(), "Take it over", "Make it again")
	paneltest.Goes(t, b.Send("ignore", "reason", "the customer moves away"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "Left as it is", "both stay as they are", "Make it again")
	if w := b.Send("adopt", "reason", "the engine is right"); w.Code != http.StatusConflict {
		t.Errorf("what does not differ is taken over: %d", w.Code)
	}
}
