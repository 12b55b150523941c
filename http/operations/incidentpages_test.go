package operations_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
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

	orphan := operations.OrphanedMachine("sandbox", "vm900", "900", "0198c7b2-5f0e-7cc1-9d55-3a0b7e2f1d46")
	s.Do(t, orphan.Report(time.Now()))
	page = notice.IncidentPage(orphan.ID())
	paneltest.Has(t, b.Get(page).Body.String(), "Machine vm900 at sandbox is ours", "Name at the hypervisor", "Remove it for good")
	if w := b.Send("remove", "reason", "it is of last year"); w.Code != http.StatusConflict {
		t.Errorf("a machine that is not there is removed: %d", w.Code)
	}
	s.Resident(t, 902, "eva@panel.example", "es", true)
	b = s.Browser(t).Enter("eva@panel.example")
	paneltest.Has(t, b.Get(page).Body.String(), "La máquina vm900 de sandbox es nuestra", "Nombre en el hipervisor",
		"Eliminarla para siempre")
	paneltest.Has(t, b.Send("remove", "reason", "es de ayer").Body.String(), "El registro y el hipervisor ya no difieren.")
}
