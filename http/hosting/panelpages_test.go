package hosting_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/paneltest"
)

// A customer makes a site with all that belongs to it, by forms alone; each is carried out
// once, however often it is sent.
func TestACustomerMakesASiteInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.Visiting(t, paneltest.Ben)
	paneltest.Has(t, b.Get("/panel/sites/").Body.String(), "There are none yet.", `href="/panel/sites/new/"`)
	site := b.Makes("sites", "domain", "bread.example", "ssl_enabled", "")
	mail := b.Makes("mail-domains", "domain", "bread.example")
	number := site[len("/panel/sites/") : len(site)-1]
	box := b.Makes("mailboxes", "mail_domain", mail[len("/panel/mail-domains/"):len(mail)-1], "local_part", "ben",
		"password", " a good password, really ")
	b.Makes("ftp-accounts", "site", number, "username", "ben", "password", "a good password, really")
	for _, page := range []string{site, mail, box} {
		text := b.Get(page).Body.String()
		paneltest.Has(t, text, `badge active">Ready`)
		b.IsForEverybody(t, "en", text)
	}
	paneltest.Has(t, b.Get(site).Body.String(), "bread.example", "FTP accounts <span class=\"count\">1</span>",
		"It goes into the bin"[7:], `<a href="/panel/ftp-accounts/`)
	paneltest.Has(t, b.Get("/panel/sites/?search=bread").Body.String(), `<span class="count">1</span>`, site)
	paneltest.Has(t, b.Get("/panel/sites/?search=cheese").Body.String(), "None fits the search.")
	paneltest.Has(t, b.Get(box).Body.String(), "ben@bread.example", `<a href="`+mail+`">bread.example</a>`)
	for kind, n := range map[string]int{"site": 1, "mail_domain": 1, "mailbox": 1, "ftp_account": 1} {
		if got := s.Count(t, `select count(*) from resources where kind = $1 and present`, kind); got != n {
			t.Errorf("%d of %s", got, kind)
		}
	}
}

func TestASiteSaysThatItsHTTPSHasNoCertificateYet(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.Visiting(t, paneltest.Ben)
	plain := b.Makes("sites", "domain", "bread.example", "ssl_enabled", "")
	on := b.Makes("sites", "domain", "cheese.example", "ssl_enabled", "true")
	if text := b.Get(plain).Body.String(); strings.Contains(text, "without a certificate yet") {
		t.Error("a site without HTTPS says that it waits for a certificate")
	}
	paneltest.Has(t, b.Get(on).Body.String(), "On, without a certificate yet")
	number, err := strconv.ParseInt(on[len("/panel/sites/"):len(on)-1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	tenant := int64(s.Count(t, `select tenant from resources where kind = 'site' and id = $1`, number))
	certificate(t, s, 7, tenant, hosting.Certificate{Site: number, Type: hosting.Acme, Domain: "cheese.example"})
	s.Do(t, hosting.Confirm{
		Ref: ssl(7), EngineID: 9, Observed: field.Values{"expires_at": field.AppendTime(nil, time.Now().Add(90*24*time.Hour))},
	})
	if text := b.Get(on).Body.String(); strings.Contains(text, "without a certificate yet") {
		t.Error("a site with a certificate says that it waits for one")
	}
}

// A browser may keep a page with a form that was sent. Sending it again as it is changes nothing;
// something else is not mistaken for a repetition.
func TestAFormThatIsFilledInAnewIsNoRepetition(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.KnowsPassword(t, paneltest.Ben)
	b := s.Visiting(t, paneltest.Ben)
	b.Get("/panel/sites/new/")
	kept := b.Twin()
	made := b.Send("panel_create", "domain", "bread.example").Header().Get("Location")
	paneltest.Goes(t, kept.Twin().Send("panel_create", "domain", "bread.example"), made)
	paneltest.Refused(t, kept.Twin().Send("panel_create", "domain", "cake.example"), http.StatusConflict,
		"This form has been carried out, with something else in it.")
	if n := s.Count(t, `select count(*) from resources where kind = 'site'`); n != 1 {
		t.Errorf("%d sites were made", n)
	}
}

// What a customer typed while the session ended is there again after the sign-in, for that
// customer alone, without secrets, and never from another site.
func TestAFormSurvivesTheEndOfItsSession(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.KnowsPassword(t, paneltest.Ben)
	s.KnowsPassword(t, paneltest.Ana)
	b := s.Visiting(t, paneltest.Ben)
	mail := b.Makes("mail-domains", "domain", "bread.example")
	typed := []string{
		"mail_domain", mail[len("/panel/mail-domains/") : len(mail)-1], "local_part", "info", "password", "a secret phrase of Ben's",
	}
	b.Get("/panel/mailboxes/new/")
	path, sent := b.Fill("panel_create", typed...)
	if _, err := s.Owner.Exec(t.Context(), `update browser_sessions set seen_at = now() - interval '31 minutes'`); err != nil {
		t.Fatal(err)
	}
	kept := func() int { return s.Count(t, `select count(*) from secret_handoff where purpose = 'form'`) }
	changed := func(name, value string) string {
		other := url.Values{}
		maps.Copy(other, sent)
		other.Set(name, value)
		return other.Encode()
	}
	stranger, by := s.Browser(t), sent.Get("form_by")
	stranger.Get("/login/")
	for what, w := range map[string]*httptest.ResponseRecorder{
		"of another site":           b.Twin().Do("POST", path, sent.Encode(), "Sec-Fetch-Site", "cross-site"),
		"of another origin":         b.Twin().Do("POST", path, sent.Encode(), "Origin", "https://evil.example"),
		"without the token":         b.Twin().Do("POST", path, changed("form_token", "")),
		"for another user":          b.Twin().Do("POST", path, changed("form_by", "1"+by[strings.Index(by, "."):])),
		"for no user":               b.Twin().Do("POST", path, changed("form_by", "")),
		"of another browser":        stranger.Do("POST", path, sent.Encode()),
		"that is longer than 16 KB": b.Twin().Do("POST", path, changed("name", strings.Repeat("x", 17<<10))),
	} {
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || to != "/login/?next=%2Fpanel%2Fmailboxes%2Fnew%2F" || kept() != 0 {
			t.Errorf("a form %s: %d to %s, %d are kept", what, w.Code, to, kept())
		}
	}
	w := b.Do("POST", path, sent.Encode())
	paneltest.Goes(t, w, "/login/?next=%2Fpanel%2Fmailboxes%2Fnew%2F%3Fkept%3D1")
	if kept() != 1 {
		t.Fatal("the form was not kept")
	}
	again := "/panel/mailboxes/new/?kept=1"
	ana := s.Visiting(t, paneltest.Ana)
	if text := ana.Get(again).Body.String(); strings.Contains(text, "You had been signed out") {
		t.Error("another user is shown the form")
	}
	b.Get(w.Header().Get("Location"))
	paneltest.Goes(t, b.Send("sign_in", "username", paneltest.Emails[paneltest.Ben], "password", paneltest.Password), again)
	text := b.Get(again).Body.String()
	paneltest.Has(t, text, "You had been signed out. What you typed is here again", `value="info"`)
	if strings.Contains(text, "secret phrase") {
		t.Error("a password was kept")
	}
	b.IsForEverybody(t, "en", text)
	if text := b.Get("/panel/sites/new/?kept=1").Body.String(); strings.Contains(text, "You had been signed out") {
		t.Error("another page shows the form")
	}
	b.Get(again)
	made := b.Send("panel_create", "password", "a secret phrase of Ben's")
	paneltest.Has(t, b.Get(made.Header().Get("Location")).Body.String(), "info@bread.example")
}

func TestWhatIsWrongInAFormOfTheCustomerAreaIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.Do(t, paneltest.Speaks(paneltest.Ben, "es"))
	b := s.Visiting(t, paneltest.Ben)
	b.Get("/panel/sites/new/")
	w := b.Send("panel_create", "domain", "no domain", "ip_address", "1.2.3")
	paneltest.Refused(t, w, http.StatusBadRequest, "Escriba un dominio válido.")
	b.IsForEverybody(t, "es", w.Body.String())
	paneltest.Has(t, w.Body.String(), `value="no domain"`, `value="1.2.3"`, `id="panel_create-domain-wrong"`)
	b.Makes("mail-domains", "domain", "bread.example")
	b.Get("/panel/mailboxes/new/")
	paneltest.Refused(t, b.Send("panel_create", "local_part", "a b"), http.StatusBadRequest, "Este campo")
	if n := s.Count(t, `select count(*) from resources where kind not in ('tenant', 'mail_domain')`); n != 0 {
		t.Errorf("%d records are left behind", n)
	}
}

// A mail domain that has mailboxes goes only with them.
func TestWhatHasPartsIsRemovedOnlyWithThem(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.Visiting(t, paneltest.Ben)
	mail := b.Makes("mail-domains", "domain", "bread.example")
	b.Makes("mailboxes", "mail_domain", mail[len("/panel/mail-domains/"):len(mail)-1], "local_part", "ben", "password",
		"a good password, really")
	b.Get(mail)
	paneltest.Refused(t, b.Send("panel_remove", "force", ""), http.StatusConflict, "The mail domain still has mailboxes.")
	paneltest.Goes(t, b.Send("panel_remove", "force", "true"), "/panel/mail-domains/")
}

// A tenant's records do not exist for others, whatever they send.
func TestOtherTenantsHaveNoPagesOfARecord(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	b := s.Visiting(t, paneltest.Eve) // administers tenant 3
	form := "form=panel_remove&number=x&form_token=" + tokenOf(t, s, b)
	for _, call := range []struct{ method, path string }{
		{"GET", "/panel/sites/1/"},
		{"GET", "/panel/sites/1/edit/"},
		{"POST", "/panel/sites/1/"},
		{"GET", "/panel/sites/999/"},
		{"POST", "/panel/sites/1/edit/"},
		{"GET", "/panel/nothing/"},
		{"GET", "/panel/packages/1/"},
	} {
		body := ""
		if call.method == "POST" {
			body = strings.Replace(form, "panel_remove",
				map[bool]string{true: "panel_change", false: "panel_remove"}[strings.HasSuffix(call.path, "edit/")], 1)
		}
		if w := b.Do(call.method, call.path, body); w.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", call.method, call.path, w.Code, w.Body)
		}
	}
	if text := b.Get("/panel/sites/").Body.String(); strings.Contains(text, "bread.example") {
		t.Error("the list shows another tenant's site")
	}
	b.Get("/panel/mailboxes/new/")
	if text := b.Get("/panel/ftp-accounts/new/").Body.String(); strings.Contains(text, "bread.example") {
		t.Error("a form offers another tenant's site")
	}
	w := b.Do("POST", "/panel/ftp-accounts/new/", strings.Replace(form, "panel_remove", "panel_create", 1)+
		"&site=1&username=eve&password=a+good+password,+really")
	paneltest.Refused(t, w, http.StatusBadRequest, "Invalid pk")
}

// tokenOf is what binds forms to a browser.
func tokenOf(t testing.TB, s *paneltest.Shop, b *paneltest.Browser) string {
	t.Helper()
	b.Get("/account/")
	_, sent := b.Fill("sign_out")
	return sent.Get("form_token")
}

// What only administrators may see or change is 403 for members; a suspended tenant is read.
func TestMembersDoNotReachWhatIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	for _, path := range []string{"/panel/webhook-endpoints/", "/panel/whitelabel/", "/panel/whitelabel/new/"} {
		if w := s.Visiting(t, paneltest.Ben).Get(path); w.Code != http.StatusForbidden {
			t.Errorf("%s for a member: %d", path, w.Code)
		}
		if w := s.Visiting(t, paneltest.Ana).Get(path); w.Code != http.StatusOK {
			t.Errorf("%s for an administrator: %d %s", path, w.Code, w.Body)
		}
	}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": []byte(`"suspended"`)}})
	b := s.Visiting(t, paneltest.Ben)
	if w := b.Get("/panel/sites/1/"); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
	if w := b.Get("/panel/sites/new/"); w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
}

// The secret of a webhook is shown when it is made and when it is replaced.
func TestTheSecretOfAWebhookIsShownOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	b := s.Visiting(t, paneltest.Ana)
	b.Get("/panel/webhook-endpoints/new/")
	text := b.Send("panel_create", "url", "https://hooks.example.com/panel", "events", "site.*\r\nmailbox.*").Body.String()
	paneltest.Has(t, text, "Copy this now", "whsec_")
	b.Get("/panel/webhook-endpoints/")
	page := ""
	for _, a := range paneltest.Elements(b.Page, "a") {
		if strings.HasPrefix(paneltest.Attribute(a, "href"), "/panel/webhook-endpoints/") &&
			paneltest.TextOf(a) == "https://hooks.example.com/panel" {
			page = paneltest.Attribute(a, "href")
		}
	}
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "site.*, mailbox.*")
	if strings.Contains(text, "whsec_") {
		t.Error("the secret is shown again")
	}
	path, sent := b.Fill("panel_rotate")
	paneltest.Has(t, b.Do("POST", path, sent.Encode()).Body.String(), "whsec_")
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), page)
}

// The first page tells what runs, what of it was refused, and how much is left.
func TestTheCustomerAreaBeginsWithWhatRuns(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	limited := hosting.NoLimits().With("sites", 4)
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: limited.Fields().Values()})
	s.Do(t, hosting.Decline{Ref: hosting.Ref{Kind: "site", ID: 1}, Code: "name_taken"})
	ends := time.Now().Add(48 * time.Hour)
	cert := hosting.Certificate{Site: 1, Type: hosting.Acme, Domain: "bread.example", Status: "issued", ExpiresAt: &ends}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "ssl_certificate", ID: 1}, Tenant: 1, Spec: cert.Fields().Values()})
	s.Do(t, notice.Raise{
		ID: uuid.New(), InApp: true, User: paneltest.Ben,
		Text: notice.Text{Type: notice.Info, Title: "A piece of news", Message: "It is new.", URL: "/panel/sites/1/"},
		At:   time.Now(),
	})
	for language, texts := range map[string][]string{
		"en": {
			"Bread &amp; Co", "What did not work", "The server has another one with this name.", "1 of 4", "in use, no limit",
			"A piece of news", `<a href="/panel/sites/1/">`, `max="4"`,
		},
		"es": {"Lo que no ha funcionado", "El servidor ya tiene otro con este nombre.", "1 de 4"},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := s.Visiting(t, paneltest.Ben)
		paneltest.Goes(t, b.Get("/"), "/panel/")
		text := b.Get("/panel/").Body.String()
		paneltest.Has(t, text, texts...)
		b.IsForEverybody(t, language, text)
		if strings.Contains(text, "cheese.example") {
			t.Error("another tenant's site is shown")
		}
	}
	paneltest.Has(t, s.Visiting(t, paneltest.Ana).Get("/panel/").Body.String(), "Webhooks", "Certificates that end soon",
		`<a href="/panel/tenants/">Change</a>`)
	if strings.Contains(s.Visiting(t, paneltest.Ben).Get("/panel/").Body.String(), "Webhooks") {
		t.Error("a member is led to what only administrators may see")
	}
}

// Who belongs to several tenants chooses one by its name; superusers choose among all.
func TestATenantIsChosenByName(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	member, operator, stranger := s.Visiting(t, paneltest.Ana), s.Visiting(t, paneltest.Root), s.Visiting(t, paneltest.Eve)
	text := member.Get("/panel/tenants/").Body.String()
	paneltest.Has(t, text, "Bread &amp; Co", "Cheese", "chosen")
	member.IsForEverybody(t, "en", text)
	if strings.Contains(text, "Milk") {
		t.Error("a tenant is offered to one who does not belong to it")
	}
	paneltest.Goes(t, member.Send("2"), "/panel/")
	paneltest.Has(t, member.Get("/panel/sites/").Body.String(), "cheese.example")
	stranger.Get("/panel/tenants/")
	sent := "form=panel_tenant&of=2&form_token=" + tokenOf(t, s, stranger)
	if w := stranger.Do("POST", "/panel/tenants/", sent); w.Code != http.StatusNotFound {
		t.Errorf("a stranger acts for a tenant: %d", w.Code)
	}
	paneltest.Goes(t, operator.Get("/panel/"), "/panel/tenants/")
	paneltest.Goes(t, operator.Get("/panel/sites/"), "/panel/tenants/")
	paneltest.Has(t, operator.Get("/panel/tenants/?search=chee").Body.String(), "Cheese", `<span class="count">1</span>`)
	paneltest.Goes(t, operator.Send("2"), "/panel/")
	text = operator.Get("/panel/sites/").Body.String()
	paneltest.Has(t, text, "cheese.example")
	if strings.Contains(text, "bread.example") {
		t.Error("an operator sees more than the chosen tenant's sites")
	}
	none := s.Visiting(t, paneltest.Gone)
	paneltest.Goes(t, none.Get("/panel/"), "/login/?next=%2Fpanel%2F")
}

// Pages of a tenant's records say whose they are. Who is a guest in the tenant has a way out.
func TestPagesOfATenantSayForWhomAndLetGuestsLeave(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	member, operator := s.Visiting(t, paneltest.Ben), s.Visiting(t, paneltest.Root)
	pages := []string{
		"/billing/invoices/", "/billing/services/", "/billing/subscriptions/", "/billing/orders/", "/billing/payment-methods/",
	}
	for _, page := range pages {
		text := member.Get(page).Body.String()
		paneltest.Has(t, text, `<div class="tenant"><p>Bread &amp; Co</p>`)
		if strings.Contains(text, "Stop acting") {
			t.Errorf("%s lets a member of the tenant leave it", page)
		}
		paneltest.Has(t, operator.Get(page).Body.String(), `<p>All tenants <a href="/panel/tenants/">Change</a></p>`)
	}
	operator.Get("/panel/tenants/")
	paneltest.Goes(t, operator.Send("2"), "/panel/")
	for _, page := range append(pages, "/panel/", "/panel/sites/") {
		text := operator.Get(page).Body.String()
		paneltest.Has(t, text, `<p>Acting for Cheese <a href="/panel/tenants/">Change</a></p>`, "Stop acting for it")
		operator.IsForEverybody(t, "en", text)
	}
	paneltest.Goes(t, operator.Send("panel_leave"), "/panel/tenants/")
	operator.Get("/panel/tenants/")
	operator.Send("2")
	operator.Get("/billing/invoices/")
	paneltest.Goes(t, operator.Send("panel_leave"), "/billing/invoices/")
	paneltest.Has(t, operator.Get("/billing/invoices/").Body.String(), "You no longer act for that tenant.", "<p>All tenants")
}

// A form that could not be sent is not shown: the page leads to what is missing, or says which
// limit is in the way. The list says so, too.
func TestPagesLeadPastWhatIsMissingOrNotSold(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	full := hosting.NoLimits().With("sites", 1).With("cron_jobs", 0)
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: full.Fields().Values()})
	b := s.Visiting(t, paneltest.Ben)
	for _, c := range []struct{ page, text, way string }{
		{"mailboxes", "A new mailbox belongs to a mail domain, and there is none yet.", "/panel/mail-domains/new/"},
		{"sites", "Sites: all 1 of your plan are in use.", "/billing/subscriptions/"},
		{"cron-jobs", "Cron jobs: your plan has none.", "/billing/subscriptions/"},
	} {
		for _, page := range []string{"/panel/" + c.page + "/new/", "/panel/" + c.page + "/"} {
			text := b.Get(page).Body.String()
			paneltest.Has(t, text, c.text, `href="`+c.way+`"`)
			b.IsForEverybody(t, "en", text)
			if strings.Contains(text, `value="panel_create"`) || strings.Contains(text, `href="/panel/`+c.page+`/new/"`) {
				t.Errorf("%s leads to a form that cannot be sent", page)
			}
		}
	}
	paneltest.Has(t, b.Get("/panel/sites/").Body.String(), `<button class="main" disabled aria-describedby="obstacle">`)
	paneltest.Has(t, b.Get("/panel/ftp-accounts/new/").Body.String(), `value="panel_create"`)
}

// Customers read what happened in the words of the business and in their language. Operators
// have the sentence of the log besides.
func TestHistoriesAreInTheWordsOfTheirReaders(t *testing.T) {
	t.Parallel()
	s := paneltest.WithSites(t)
	own := hosting.NoLimits().With("cron_jobs", 0)
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: own.Fields().Values()})
	s.Do(t, hosting.Confirm{Ref: hosting.Ref{Kind: "site", ID: 1}, EngineID: 4, Version: 1})
	for language, words := range map[string][]string{"en": {"Created", "On the server"}, "es": {"Creado", "En el servidor"}} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		b := s.Visiting(t, paneltest.Ana)
		text := b.Get("/panel/sites/1/").Body.String()
		paneltest.Has(t, text, words...)
		b.IsForEverybody(t, language, text)
		for _, technical := range []string{`<p lang="en">`, "the engine", "by tenant 1", "site-1/"} {
			if strings.Contains(text, technical) {
				t.Errorf("%s: a customer reads %q", language, technical)
			}
		}
	}
	paneltest.Has(t, s.Visiting(t, paneltest.Root).Get("/panel/sites/1/").Body.String(), `<p lang="en">`)
	text := s.Visiting(t, paneltest.Ben).Get("/panel/").Body.String()
	paneltest.Has(t, text, "not in your plan", "in use, no limit")
	if strings.Contains(text, "0 of 0") {
		t.Error("a bar of nothing is shown")
	}
}
