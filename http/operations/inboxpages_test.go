package operations_test

import (
	"strconv"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// An operator reads a webhook as it came, which changes nothing of the page whatever
// stands in it, and has it acted on again.
func TestAnOperatorReadsAndReplaysAWebhookInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	var id int64
	if err := s.Owner.QueryRow(t.Context(), `update webhook_inbox set state = 'unmatched', body = $2,
		event_id = 'evt_<b>hostile</b>' where id = (select min(id) from webhook_inbox where order_id = $1::uuid) returning id`,
		s.Known["running"], []byte(`{"name":"</pre><script>alert(1)</script>","long":"`+strings.Repeat("x",
			100_000)+`"}`)).Scan(&id); err != nil {
		t.Fatal(err)
	}
	page := "/storefront/inbox/" + strconv.FormatInt(id, 10) + "/"
	list := b.Get("/storefront/inbox/?state=unmatched&provider=test&search=HOSTILE").Body.String()
	paneltest.Has(t, list, page, "fits no order", "evt_&lt;b&gt;hostile", `<span class="count">1</span>`)
	if w := b.Get("/storefront/inbox/?search=nothing-like-it"); strings.Contains(w.Body.String(), page) {
		t.Error("the search leaves what it does not name")
	}
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, `&lt;/pre&gt;&lt;script&gt;`, "The beginning; the API has all of it.", "X-Test-Signature",
		"***", "/storefront/orders/"+s.Known["running"]+"/")
	if len(text) > 100_000 {
		t.Errorf("the page has %d bytes", len(text))
	}
	paneltest.Goes(t, b.Send("replay", "reason", "the order is there now"), page)
	s.Until(t, "it is acted on", func() bool {
		return s.Count(t, `select count(*) from webhook_inbox where id = $1 and state = 'done'`, id) == 1
	})
	paneltest.Has(t, b.Get(page).Body.String(), "The webhook is acted on again.", `badge done">acted on`)
	if n := s.Count(t, `select count(*) from events where name = 'operations.webhook_replayed' and actor = 'operator:901'`); n != 1 {
		t.Errorf("%d events of the operator", n)
	}
	if _, err := s.Owner.Exec(t.Context(), `update webhook_inbox set body = null where id = $1`, id); err != nil {
		t.Fatal(err)
	}
	paneltest.Has(t, b.Get(page).Body.String(), "The body is no longer kept.")
}
