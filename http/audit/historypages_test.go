package audit_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/paneltest"
)

// An operator goes through the events of an order, sees it as it stood after each, and
// fetches the proof of one.
func TestAnOperatorLooksAtAnOrderAsItStood(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page, stream := "/storefront/orders/"+s.Known["running"]+"/", "order-"+s.Known["running"]
	last := s.VersionOf(t, stream)

	first := b.Get(page + "?version=1").Body.String()
	b.IsForEverybody(t, "en", first)
	paneltest.Has(t, then(first), "Order placed", `<code>status</code> <span class="badge provisioning">changed`,
		"<dd>pending</dd>", `value="1"`, fmt.Sprintf(`max="%d"`, last), "not sealed yet", `href="?version=2#then"`)
	if strings.Contains(then(first), "<code>confirmed</code>") || strings.Contains(then(first), "/proof/") ||
		strings.Contains(then(first), "First event") {
		t.Error("it shows what was not there yet:", then(first))
	}
	for _, query := range []string{"", fmt.Sprint("?version=", last), "?version=99999", "?version=-1", "?version=x"} {
		paneltest.Has(t, then(b.Get(page+query).Body.String()), "<dd>active</dd>", fmt.Sprintf(`value="%d"`, last),
			`href="?version=1#then"`, fmt.Sprintf(`href="?version=%d#then"`, last-1))
	}

	o := s.Seal(t)
	sealed := then(b.Get(page + "?version=2").Body.String())
	paneltest.Has(t, sealed, fmt.Sprintf("<dt>Events below the checkpoint</dt><dd>%d</dd>", o.Size),
		"<dt>Witnesses</dt><dd>none are asked</dd>", "Position in the log", "One back", "One on")
	proof := regexp.MustCompile(`/audit/api/v1/events/[0-9]+/proof/`).FindString(sealed)
	if w := b.Get(proof); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), o.Name) {
		t.Errorf("%s: %d %s", proof, w.Code, w.Body)
	}
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	spanish := s.Browser(t).Enter("es" + paneltest.OpMail)
	text := spanish.Get(page + "?version=3").Body.String()
	spanish.IsForEverybody(t, "es", text)
	paneltest.Has(t, then(text), "El pedido como estaba", "Testigos")

	subject := uuid.MustParse(regexp.MustCompile(`<code>subject</code>[^/]*/span></dt><dd>([^<]+)`).FindStringSubmatch(first)[1])
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{Actor: "operator:1"}, eventstore.EraseRows(subject),
		account.EraseSubject{Subject: subject, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	erased := then(b.Get(page + "?version=1").Body.String())
	paneltest.Has(t, erased, "<dt><code>customer_email</code></dt><dd>erased</dd>")
	if strings.Contains(erased, "ana@example.com") {
		t.Error("an erased text is shown:", erased)
	}
}

// then is the part of the page of an order that shows it as it stood.
func then(text string) string {
	_, after, _ := strings.Cut(text, `<section id="then"`)
	part, _, _ := strings.Cut(after, "</section>")
	return part
}

// Administrators of a tenant, and superusers, see on the page of a record what has
// happened to it; others do not.
func TestThePageOfARecordTellsItsHistory(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for id, tenant := range map[int64]int64{7: 1, 8: 2} {
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: tenant,
			Spec: (&hosting.Site{Domain: fmt.Sprintf("bread%d.example", id)}).Fields().Values(),
		})
	}
	for i := range 25 {
		body := fmt.Sprintf(`{"ip_address":"192.0.2.%d"}`, i+1)
		if w := s.Call("PATCH", "/hosting/api/rest/sites/7/", body, "Authorization", "Bearer "+s.Known["ana"], "Content-Type",
			"application/json"); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	b := s.Visiting(t, paneltest.Ana)
	text := b.Get("/panel/sites/7/").Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, paneltest.Past(text), `<span class="count">26</span>`, "<strong>Changed</strong>",
		"IP address", "Alex Kim", `href="?events=100#past"`)
	if n := strings.Count(paneltest.Past(text), "<li id="); n != 20 || strings.Contains(paneltest.Past(text), "Created") {
		t.Errorf("%d events: %s", n, paneltest.Past(text))
	}
	all := paneltest.Past(b.Get("/panel/sites/7/?events=100").Body.String())
	if n := strings.Count(all, "<li id="); n != 26 || strings.Contains(all, "?events=") ||
		!strings.Contains(all, "<strong>Created</strong>") {
		t.Errorf("%d events: %s", n, all)
	}
	if n := strings.Count(paneltest.Past(b.Get("/panel/sites/7/?events=x").Body.String()), "<li id="); n != 20 {
		t.Errorf("%d events", n)
	}
	if text := s.Visiting(t, paneltest.Ben).Get("/panel/sites/7/").Body.String(); !strings.Contains(text,
		"bread7.example") || paneltest.Past(text) != "" {
		t.Error("a member is shown what the audit API refuses them")
	}
	if w := s.Visiting(t, paneltest.Eve).Get("/panel/sites/7/"); w.Code != http.StatusNotFound ||
		strings.Contains(w.Body.String(), "192.0.2.25") {
		t.Errorf("another tenant: %d", w.Code)
	}
	// A row that claims a record of another tenant opens no stream of it.
	if _, err := s.Owner.Exec(t.Context(), `update resources set tenant = 1 where kind = 'site' and id = 8`); err != nil {
		t.Fatal(err)
	}
	if text := b.Get("/panel/sites/8/").Body.String(); !strings.Contains(text, "bread8.example") ||
		paneltest.Past(text) != "" {
		t.Error("the history of another tenant's record is shown")
	}
	operator := s.Visiting(t, paneltest.Root)
	paneltest.Has(t, paneltest.Past(operator.Get("/storefront/tenants/1/?events=5").Body.String()),
		"<strong>Created</strong>", "tenant wanted by tenant 1")
}
