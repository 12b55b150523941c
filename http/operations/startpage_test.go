package operations_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	seen "hostpanel/domain/operations"
	"hostpanel/paneltest"
)

// An operator signs in and sees what needs a person, the money of the day, and the
// way to each list.
func TestOperatorsStartWithWhatNeedsAPerson(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	text := b.Get("/storefront/").Body.String()
	paneltest.Has(t, text, `<li class="alarm"><a href="/storefront/orders/?status=failed"><strong>1</strong> Failed orders</a>`,
		`<a href="/storefront/runs/?status=parked"><strong>1</strong>`,
		`<a href="/storefront/incidents/?is_settled=false"><strong>2</strong>`,
		`<a href="/storefront/orders/?hold=dispute"><strong>0</strong>`, `<p><strong>3</strong> placed</p>`,
		`<p><strong>2</strong> paid</p>`,
		`<p><strong>1</strong> became active</p>`, `<li class="alarm"><p><strong>1</strong> setups stopped</p>`,
		`<tr><th scope="row">Today</th>`, `<rect class="in"`, `badge active">Well`, `href="/storefront/keys/"`)
	if w := s.Operate("POST", "orders/"+s.Known["running"]+"/refund/",
		`{"amount":"1.00","reason":"goodwill"}`); w.Code != http.StatusAccepted {
		t.Fatal(w.Code, w.Body)
	}
	s.Until(t, "the money is back", func() bool {
		return strings.Contains(b.Get("/storefront/").Body.String(),
			`<rect class="out"`)
	})
	paneltest.Has(t, b.Get("/storefront/").Body.String(), "€1.00</td>")
}

// A panel that was restored says so where operators start. Settling its incident, with a
// reason, lets it reach outside.
func TestOperatorsLetARestoredPanelReachOutside(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	if text := b.Get("/storefront/").Body.String(); strings.Contains(text, "restored from a backup") {
		t.Errorf("the panel is not in recovery mode:\n%s", text)
	}
	if _, err := s.Pool().Exec(t.Context(),
		`insert into recovery (number, head, reason, is_ready) values (1, 0, 'restored', true)`); err != nil {
		t.Fatal(err)
	}
	trouble := seen.RecoveryTrouble(1)
	if err := s.Runner.ReportIncident(t.Context(), trouble); err != nil {
		t.Fatal(err)
	}
	page := "/storefront/incidents/" + trouble.ID().String() + "/"
	paneltest.Has(t, b.Get("/storefront/").Body.String(), "restored from a backup",
		`<a href="`+page+`">End the recovery mode</a>`)
	paneltest.Has(t, b.Get(page).Body.String(), "settle")
	if w := s.Operate("POST", "incidents/"+trouble.ID().String()+"/settle/",
		`{"reason":"all was compared"}`); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	s.Until(t, "the mode has ended", func() bool {
		on, err := s.Runner.InRecovery(t.Context())
		return err == nil && !on
	})
	if text := b.Get("/storefront/").Body.String(); strings.Contains(text, "restored from a backup") {
		t.Errorf("the panel is not in recovery mode:\n%s", text)
	}
}

// What is wrong with the panel is on the page as it is at /readyz.
func TestTheStartPageTellsWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Server.Health = unwell{}
	s.Rewire(t)
	for id, language := range map[int64]string{901: "en", 902: "es"} {
		s.Resident(t, id, language+paneltest.OpMail, language, true)
		b := s.Browser(t).Enter(language + paneltest.OpMail)
		w := b.Get("/storefront/")
		paneltest.Has(t, w.Body.String(), `<strong>readers</strong>: do not move`)
		b.IsForEverybody(t, language, w.Body.String())
	}
}

type unwell struct{}

func (unwell) Alive() map[string]string { return nil }

func (unwell) Ready(context.Context) map[string]string {
	return map[string]string{"readers": "do not move"}
}
