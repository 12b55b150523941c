package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	seen "hostpanel/domain/operations"
)

// An operator reads what an incident is about, and settles it.
func TestAnOperatorSettlesAnIncidentInTheBrowser(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	page := notice.IncidentPage(lonely.ID())
	has(t, b.get("/storefront/incidents/").Body.String(), page, "A webhook was set aside", notice.IncidentPage(changedAtEngine.ID()), `<span class="count">2</span>`)
	if text := b.get("/storefront/incidents/?kind=engine_changed&is_settled=false").Body.String(); strings.Contains(text, page) {
		t.Error("incidents of another kind are shown")
	}
	has(t, b.get(page).Body.String(), "Acting on webhook 7 of test has failed too often.", `href="/storefront/inbox/7/"`, "Handle it again", "Settle it")
	if w := b.send("settle"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	goes(t, b.send("settle", "reason", "the provider has sent it again"), page)
	text := b.get(page).Body.String()
	has(t, text, "The incident is settled.", "the provider has sent it again", `badge settled">Settled`)
	if strings.Contains(text, "Settle it") {
		t.Error("what is settled can be settled again")
	}
	has(t, b.get("/storefront/incidents/?is_settled=true").Body.String(), page)

	page = notice.IncidentPage(changedAtEngine.ID())
	has(t, b.get(page).Body.String(), "Take it over", "Make it again")
	goes(t, b.send("ignore", "reason", "the customer moves away"), page)
	has(t, b.get(page).Body.String(), "Left as it is", "both stay as they are", "Make it again")
	if w := b.send("adopt", "reason", "the engine is right"); w.Code != http.StatusConflict {
		t.Errorf("what does not differ is taken over: %d", w.Code)
	}
}

func TestThePagesOfIncidentsAreForEverybodyAndOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range []string{"", "?kind=nonsense&page=-1", "?is_settled=true", lonely.ID().String() + "/", changedAtEngine.ID().String() + "/"} {
			w := b.get("/storefront/incidents/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
	}
	if w := s.browser(t).enter("not" + opMail).get("/storefront/incidents/"); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}

// Each notice to operators leads to a page that a superuser can open, and where a
// reader who has signed out arrives after the sign-in.
func TestEveryNoticeToOperatorsLeadsToThePageOfWhatItIsAbout(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	id := uuid.MustParse(s.known["failed"])
	told := []notice.Text{
		notice.OrderParked(id, "ORD-1", "site", "refused", "en"), notice.PaymentMismatch(id, "ORD-1", []string{"amount"}, "en"),
		notice.PaymentDisputed(id, "ORD-1", "2.99 EUR", "en"), notice.ChangeDroppedOf(id, "ORD-1", "S", "7 sites of 5", "en"),
	}
	for _, kind := range seen.IncidentKinds {
		trouble := seen.Trouble{Kind: kind, Subject: "of each", About: map[string]string{"provider": "test"}}
		s.do(t, trouble.Report(time.Now()))
		told = append(told, notice.Incident(trouble.ID(), kind, trouble.About, "en"))
	}
	covered := map[string]bool{}
	b := s.browser(t).enter(opMail)
	for _, text := range told {
		covered[text.Template] = true
		w := b.get(text.URL)
		if w.Code != http.StatusOK || text.URL == "/" {
			t.Errorf("%s leads to %q: %d", text.Template, text.URL, w.Code)
		}
		stranger := s.browser(t)
		to := stranger.get(text.URL).Header().Get("Location")
		stranger.get(to)
		goes(t, stranger.send("sign_in", "username", opMail, "password", password), text.URL)
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
		if w := b.get(sample.News.URL); w.Code != http.StatusOK {
			t.Errorf("the sample of %s leads to %q: %d", template, sample.News.URL, w.Code)
		}
	}
}
