package operations_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	seen "hostpanel/domain/operations"
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

// Each notice to operators leads to a page that a superuser can open, and where a
// reader who has signed out arrives after the sign-in.
func TestEveryNoticeToOperatorsLeadsToThePageOfWhatItIsAbout(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	id := uuid.MustParse(s.Known["failed"])
	told := []notice.Text{
		notice.OrderParked(id, "ORD-1", "site", "refused", "en"),
		notice.PaymentMismatch(id, "ORD-1", []string{"amount"}, "en"),
		notice.PaymentDisputed(id, "ORD-1", "2.99 EUR", "en"), notice.ChangeDroppedOf(id, "ORD-1", "S", "7 sites of 5", "en"),
	}
	for _, kind := range seen.IncidentKinds {
		trouble := seen.Trouble{Kind: kind, Subject: "of each", About: map[string]string{"provider": "test"}}
		s.Do(t, trouble.Report(time.Now()))
		told = append(told, notice.Incident(trouble.ID(), kind, trouble.About, "en"))
	}
	covered := map[string]bool{}
	b := s.Browser(t).Enter(paneltest.OpMail)
	for _, text := range told {
		covered[text.Template] = true
		w := b.Get(text.URL)
		if w.Code != http.StatusOK || text.URL == "/" {
			t.Errorf("%s leads to %q: %d", text.Template, text.URL, w.Code)
		}
		stranger := s.Browser(t)
		to := stranger.Get(text.URL).Header().Get("Location")
		stranger.Get(to)
		paneltest.Goes(t, stranger.Send("sign_in", "username", paneltest.OpMail, "password", paneltest.Password), text.URL)
	}
	for _, template := range notice.Templates() {
		text := notice.Text{Template: template}
		sample, _ := notice.Sample(template, "en")
		if !text.ToOperators() {
			continue
		}
		if !covered[template] {
			t.Errorf("%s was not told", template)
		}
		if w := b.Get(sample.News.URL); w.Code != http.StatusOK {
			t.Errorf("the sample of %s leads to %q: %d", template, sample.News.URL, w.Code)
		}
	}
}
