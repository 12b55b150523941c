package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/notice"
	seen "hostpanel/domain/operations"
)

// An operator reads a webhook as it came, which changes nothing of the page whatever
// stands in it, and has it acted on again.
func TestAnOperatorReadsAndReplaysAWebhookInTheBrowser(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	var id int64
	if err := s.owner.QueryRow(t.Context(), `update webhook_inbox set state = 'unmatched', body = $2,
		event_id = 'evt_<b>hostile</b>' where id = (select min(id) from webhook_inbox where order_id = $1::uuid) returning id`,
		s.known["running"], []byte(`{"name":"</pre><script>alert(1)</script>","long":"`+strings.Repeat("x", 100_000)+`"}`)).Scan(&id); err != nil {
		t.Fatal(err)
	}
	page := "/storefront/inbox/" + strconv.FormatInt(id, 10) + "/"
	list := b.get("/storefront/inbox/?state=unmatched&provider=test&search=HOSTILE").Body.String()
	has(t, list, page, "fits no order", "evt_&lt;b&gt;hostile", `<span class="count">1</span>`)
	if w := b.get("/storefront/inbox/?search=nothing-like-it"); strings.Contains(w.Body.String(), page) {
		t.Error("the search leaves what it does not name")
	}
	text := b.get(page).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, `&lt;/pre&gt;&lt;script&gt;`, "The beginning; the API has all of it.", "X-Test-Signature", "***", "/storefront/orders/"+s.known["running"]+"/")
	if len(text) > 100_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	goes(t, b.send("replay", "reason", "the order is there now"), page)
	s.until(t, "it is acted on", func() bool {
		return s.count(t, `select count(*) from webhook_inbox where id = $1 and state = 'done'`, id) == 1
	})
	has(t, b.get(page).Body.String(), "The webhook is acted on again.", `badge done">acted on`)
	if n := s.count(t, `select count(*) from events where name = 'operations.webhook_replayed' and actor = 'operator:901'`); n != 1 {
		t.Errorf("%d events of the operator", n)
	}
	if _, err := s.owner.Exec(t.Context(), `update webhook_inbox set body = null where id = $1`, id); err != nil {
		t.Fatal(err)
	}
	has(t, b.get(page).Body.String(), "The body is no longer kept.")
}

// The comparison shows orders with what repairs them, and differences to the engine.
func TestAnOperatorSeesWhatDoesNotFitInTheBrowser(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	text := b.get("/storefront/reconciliation/").Body.String()
	has(t, text, "Paid, and not set up", s.known["failed_number"], "/storefront/orders/"+s.known["failed"]+"/", "let the order go on, or skip the step", notice.IncidentPage(changedAtEngine.ID()))
	if strings.Contains(text, s.known["running_number"]) || strings.Contains(text, notice.IncidentPage(lonely.ID())) {
		t.Error("what fits is shown, or an incident that is no difference")
	}
	s.do(t, changedAtEngine.Settle("it is over", time.Now()))
	s.accepted(t, "orders/"+s.known["failed"]+"/cancel/", `{"reason":"asked for by mail"}`)
	s.until(t, "its money is back", func() bool {
		text = b.get("/storefront/reconciliation/").Body.String()
		return strings.Contains(text, "All orders fit together.")
	})
	has(t, text, "The records and the engine do not differ.")
}

func TestThePagesOfTheInboxAndTheReconciliationAreForEverybodyAndOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	s.do(t, seen.OrphanTrouble(1, "site", 99).Report(time.Now()))
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range []string{"inbox/", "inbox/?state=nonsense&page=-1", "inbox/?search=none", "inbox/1/", "reconciliation/"} {
			w := b.get("/storefront/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
	}
	for _, path := range []string{"/storefront/inbox/", "/storefront/reconciliation/"} {
		if w := s.browser(t).enter("not" + opMail).get(path); w.Code != http.StatusForbidden {
			t.Errorf("no operator: %d", w.Code)
		}
	}
}
