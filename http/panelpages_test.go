package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
)

// visiting is a browser in which a user has signed in.
func (s *shop) visiting(t testing.TB, user int64) *browser {
	t.Helper()
	id, err := s.vault().OpenSession(t.Context(), user, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.cookies["session"], b.cookies["__Host-session"] = id, id
	return b
}

// make sends the form for a new record, twice, and answers with the page of the record.
func (b *browser) makes(collection string, fields ...string) string {
	b.t.Helper()
	b.get("/panel/" + collection + "/new/")
	path, sent := b.fill("panel_create", fields...)
	twin := b.twin()
	first := b.do("POST", path, sent.Encode())
	if first.Code != http.StatusSeeOther {
		b.t.Fatalf("%s %v: %d %s", collection, fields, first.Code, first.Body)
	}
	page := first.Header().Get("Location")
	goes(b.t, twin.do("POST", path, sent.Encode()), page)
	return page
}

// A customer makes a site with all that belongs to it, by forms alone; each is carried out
// once, however often it is sent.
func TestACustomerMakesASiteInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.visiting(t, ben)
	has(t, b.get("/panel/sites/").Body.String(), "There are none yet.", `href="/panel/sites/new/"`)
	site := b.makes("sites", "domain", "bread.example", "ssl_enabled", "")
	mail := b.makes("mail-domains", "domain", "bread.example")
	number := site[len("/panel/sites/") : len(site)-1]
	box := b.makes("mailboxes", "mail_domain", mail[len("/panel/mail-domains/"):len(mail)-1], "local_part", "ben", "password", " a good password, really ")
	b.makes("ftp-accounts", "site", number, "username", "ben", "password", "a good password, really")
	for _, page := range []string{site, mail, box} {
		text := b.get(page).Body.String()
		has(t, text, `badge active">Ready`)
		b.isForEverybody(t, "en", text)
	}
	has(t, b.get(site).Body.String(), "bread.example", "FTP accounts <span class=\"count\">1</span>", "It goes into the bin"[7:], `<a href="/panel/ftp-accounts/`)
	has(t, b.get("/panel/sites/?search=bread").Body.String(), `<span class="count">1</span>`, site)
	has(t, b.get("/panel/sites/?search=cheese").Body.String(), "None fits the search.")
	has(t, b.get(box).Body.String(), "ben@bread.example", `<a href="`+mail+`">bread.example</a>`)
	for kind, n := range map[string]int{"site": 1, "mail_domain": 1, "mailbox": 1, "ftp_account": 1} {
		if got := s.count(t, `select count(*) from resources where kind = $1 and present`, kind); got != n {
			t.Errorf("%d of %s", got, kind)
		}
	}
}

// A password that was made up is shown once, to the one who has sent the form first.
func TestAGeneratedPasswordIsShownOnceInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.visiting(t, ben)
	if text := b.get("/panel/mailboxes/new/").Body.String(); strings.Contains(text, "keep the present one") {
		t.Error("a new mailbox has a present password")
	}
	b.get("/panel/databases/new/")
	path, sent := b.fill("panel_create", "name", "shop")
	twin := b.twin()
	text := b.do("POST", path, sent.Encode()).Body.String()
	has(t, text, "Copy this now", "Password of the database")
	b.isForEverybody(t, "en", text)
	again := twin.do("POST", path, sent.Encode())
	page := attribute(elements(b.page, "main")[0], "id")
	if again.Code != http.StatusSeeOther || page != "content" || s.count(t, `select count(*) from resources where kind = 'database'`) != 1 {
		t.Errorf("sent again: %d %s", again.Code, again.Body)
	}
	if text := b.get(again.Header().Get("Location")).Body.String(); strings.Contains(text, "Password of the database") {
		t.Errorf("the password is shown again: %s", text)
	}
}

func TestWhatIsWrongInAFormOfTheCustomerAreaIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.do(t, speaks(ben, "es"))
	b := s.visiting(t, ben)
	b.get("/panel/sites/new/")
	w := b.send("panel_create", "domain", "no domain", "ip_address", "1.2.3")
	refused(t, w, http.StatusBadRequest, "Escriba un dominio válido.")
	b.isForEverybody(t, "es", w.Body.String())
	has(t, w.Body.String(), `value="no domain"`, `value="1.2.3"`, `id="panel_create-domain-wrong"`)
	b.get("/panel/mailboxes/new/")
	refused(t, b.send("panel_create", "local_part", "a b"), http.StatusBadRequest, "Este campo")
	if n := s.count(t, `select count(*) from resources where kind <> 'tenant'`); n != 0 {
		t.Errorf("%d records are left behind", n)
	}
}

// speaks gives a user another language.
func speaks(user int64, language string) domain.Command {
	return account.ChangeProfile{User: user, SubjectID: uuid.New(), Email: emails[user], Name: "Alex Kim", Language: language, At: time.Now()}
}

// What is removed of a kind with a bin is brought back by operators as it was.
func TestASiteIsChangedRemovedAndBroughtBackInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	b, operator := s.visiting(t, ben), s.visiting(t, root)
	site := b.makes("sites", "domain", "bread.example")
	b.get(site + "edit/")
	goes(t, b.send("panel_change", "ssl_enabled", "true", "is_active", "true"), site)
	has(t, b.get(site).Body.String(), "It has been changed.", "<dt>HTTPS</dt><dd>yes</dd>")
	path, sent := b.fill("panel_remove")
	twin := b.twin()
	goes(t, b.do("POST", path, sent.Encode()), "/panel/sites/")
	goes(t, twin.do("POST", path, sent.Encode()), "/panel/sites/")
	if w := b.get(site); w.Code != http.StatusNotFound {
		t.Errorf("it is still there: %d", w.Code)
	}
	has(t, operator.get(site).Body.String(), "This is in the bin.")
	goes(t, operator.send("panel_restore"), site)
	has(t, b.get(site).Body.String(), "bread.example", "<dt>HTTPS</dt><dd>yes</dd>")
}

// A mail domain that has mailboxes goes only with them.
func TestWhatHasPartsIsRemovedOnlyWithThem(t *testing.T) {
	t.Parallel()
	s := running(t)
	b := s.visiting(t, ben)
	mail := b.makes("mail-domains", "domain", "bread.example")
	b.makes("mailboxes", "mail_domain", mail[len("/panel/mail-domains/"):len(mail)-1], "local_part", "ben", "password", "a good password, really")
	b.get(mail)
	refused(t, b.send("panel_remove", "force", ""), http.StatusConflict, "The mail domain still has mailboxes.")
	goes(t, b.send("panel_remove", "force", "true"), "/panel/mail-domains/")
}

// A tenant's records do not exist for others, whatever they send.
func TestOtherTenantsHaveNoPagesOfARecord(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	b := s.visiting(t, eve) // administers tenant 3
	form := "form=panel_remove&number=x&form_token=" + s.tokenOf(t, b)
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
			body = strings.Replace(form, "panel_remove", map[bool]string{true: "panel_change", false: "panel_remove"}[strings.HasSuffix(call.path, "edit/")], 1)
		}
		if w := b.do(call.method, call.path, body); w.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", call.method, call.path, w.Code, w.Body)
		}
	}
	if text := b.get("/panel/sites/").Body.String(); strings.Contains(text, "bread.example") {
		t.Error("the list shows another tenant's site")
	}
	b.get("/panel/mailboxes/new/")
	if text := b.get("/panel/ftp-accounts/new/").Body.String(); strings.Contains(text, "bread.example") {
		t.Error("a form offers another tenant's site")
	}
	w := b.send("panel_create", "site", "1", "username", "eve", "password", "a good password, really")
	refused(t, w, http.StatusBadRequest, "Invalid pk")
}

// tokenOf is what binds forms to a browser.
func (s *shop) tokenOf(t testing.TB, b *browser) string {
	t.Helper()
	b.get("/account/")
	_, sent := b.fill("sign_out")
	return sent.Get("form_token")
}

// What only administrators may see or change is 403 for members; a suspended tenant is read.
func TestMembersDoNotReachWhatIsForAdministrators(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	for _, path := range []string{"/panel/webhook-endpoints/", "/panel/whitelabel/", "/panel/whitelabel/new/"} {
		if w := s.visiting(t, ben).get(path); w.Code != http.StatusForbidden {
			t.Errorf("%s for a member: %d", path, w.Code)
		}
		if w := s.visiting(t, ana).get(path); w.Code != http.StatusOK {
			t.Errorf("%s for an administrator: %d %s", path, w.Code, w.Body)
		}
	}
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": []byte(`"suspended"`)}})
	b := s.visiting(t, ben)
	if w := b.get("/panel/sites/1/"); w.Code != http.StatusOK {
		t.Errorf("%d", w.Code)
	}
	if w := b.get("/panel/sites/new/"); w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
}

// The secret of a webhook is shown when it is made and when it is replaced.
func TestTheSecretOfAWebhookIsShownOnce(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	b := s.visiting(t, ana)
	b.get("/panel/webhook-endpoints/new/")
	text := b.send("panel_create", "url", "https://hooks.example.com/panel", "events", "site.*\r\nmailbox.*").Body.String()
	has(t, text, "Copy this now", "whsec_")
	b.get("/panel/webhook-endpoints/")
	page := ""
	for _, a := range elements(b.page, "a") {
		if strings.HasPrefix(attribute(a, "href"), "/panel/webhook-endpoints/") && textOf(a) == "https://hooks.example.com/panel" {
			page = attribute(a, "href")
		}
	}
	text = b.get(page).Body.String()
	has(t, text, "site.*, mailbox.*")
	if strings.Contains(text, "whsec_") {
		t.Error("the secret is shown again")
	}
	path, sent := b.fill("panel_rotate")
	has(t, b.do("POST", path, sent.Encode()).Body.String(), "whsec_")
	goes(t, b.do("POST", path, sent.Encode()), page)
}

// Every kind has its pages, in both languages: the list, the form, a record and its form.
func TestThePagesOfEveryKindAreForEverybody(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.hosting.NameServers = []string{"ns1.panel.example."}
	s.people(t)
	s.oneOfEach(t, 1, 1)
	look := hosting.WhiteLabel{BrandName: "Brand", PrimaryColor: "#4F46E5", SecondaryColor: "#10B981", SidebarBGColor: "#1F2937", SidebarColor: "#F9FAFB", IsActive: true}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()}, anEndpoint(1, 1))
	s.do(t, hosting.Decline{Ref: hosting.Ref{Kind: "mailbox", ID: 1}, Code: "password_weak"})
	for _, language := range []string{"en", "es"} {
		s.do(t, speaks(ana, language))
		b := s.visiting(t, ana)
		pages := 0
		for _, kind := range append(hosting.Kinds, hosting.Kind{Collection: "webhook-endpoints", Plurals: map[string]string{}, Verbs: hosting.All}) {
			if !kind.HasPages() {
				continue
			}
			for _, path := range []string{"", "new/", "1/", "1/edit/"} {
				if path == "1/edit/" && kind.Verbs&hosting.Patch == 0 {
					continue
				}
				pages++
				w := b.get("/panel/" + kind.Collection + "/" + path)
				if w.Code != http.StatusOK {
					t.Errorf("%s%s: %d %s", kind.Collection, path, w.Code, w.Body)
				}
				b.isForEverybody(t, language, w.Body.String())
				if path == "1/" && !strings.Contains(past(w.Body.String()), "<li id=") {
					t.Errorf("the page of one of %s has no history", kind.Collection)
				}
			}
		}
		if pages < 40 {
			t.Errorf("only %d pages", pages)
		}
		has(t, b.get("/panel/mailboxes/1/").Body.String(), map[string]string{"en": "The server wants a stronger password.", "es": "El servidor exige una contraseña más fuerte."}[language])
	}
}

// The first page tells what runs, what of it was refused, and how much is left.
func TestTheCustomerAreaBeginsWithWhatRuns(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	limited := hosting.NoLimits().With("sites", 4)
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: limited.Fields().Values()})
	s.do(t, hosting.Decline{Ref: hosting.Ref{Kind: "site", ID: 1}, Code: "name_taken"})
	ends := time.Now().Add(48 * time.Hour)
	cert := hosting.Certificate{Site: 1, Type: hosting.Acme, Domain: "bread.example", Status: "issued", ExpiresAt: &ends}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "ssl_certificate", ID: 1}, Tenant: 1, Spec: cert.Fields().Values()})
	s.do(t, notice.Raise{ID: uuid.New(), InApp: true, User: ben, Text: notice.Text{Type: notice.Info, Title: "A piece of news", Message: "It is new.", URL: "/panel/sites/1/"}, At: time.Now()})
	for language, texts := range map[string][]string{
		"en": {"Bread &amp; Co", "What did not work", "The server has another one with this name.", "1 of 4", "without limit", "A piece of news", `<a href="/panel/sites/1/">`, `max="4"`},
		"es": {"Lo que no ha funcionado", "El servidor ya tiene otro con este nombre.", "1 de 4"},
	} {
		s.do(t, speaks(ben, language))
		b := s.visiting(t, ben)
		goes(t, b.get("/"), "/panel/")
		text := b.get("/panel/").Body.String()
		has(t, text, texts...)
		b.isForEverybody(t, language, text)
		if strings.Contains(text, "cheese.example") {
			t.Error("another tenant's site is shown")
		}
	}
	has(t, s.visiting(t, ana).get("/panel/").Body.String(), "Webhooks", "Certificates that end soon", `<a href="/panel/tenants/">Change</a>`)
	if strings.Contains(s.visiting(t, ben).get("/panel/").Body.String(), "Webhooks") {
		t.Error("a member is led to what only administrators may see")
	}
}

// Who belongs to several tenants chooses one by its name; superusers choose among all.
func TestATenantIsChosenByName(t *testing.T) {
	t.Parallel()
	s := withSites(t)
	member, operator, stranger := s.visiting(t, ana), s.visiting(t, root), s.visiting(t, eve)
	text := member.get("/panel/tenants/").Body.String()
	has(t, text, "Bread &amp; Co", "Cheese", "chosen")
	member.isForEverybody(t, "en", text)
	if strings.Contains(text, "Milk") {
		t.Error("a tenant is offered to one who does not belong to it")
	}
	goes(t, member.send("2"), "/panel/")
	has(t, member.get("/panel/sites/").Body.String(), "cheese.example")
	stranger.get("/panel/tenants/")
	sent := "form=panel_tenant&of=2&form_token=" + s.tokenOf(t, stranger)
	if w := stranger.do("POST", "/panel/tenants/", sent); w.Code != http.StatusNotFound {
		t.Errorf("a stranger acts for a tenant: %d", w.Code)
	}
	goes(t, operator.get("/panel/"), "/panel/tenants/")
	goes(t, operator.get("/panel/sites/"), "/panel/tenants/")
	has(t, operator.get("/panel/tenants/?search=chee").Body.String(), "Cheese", `<span class="count">1</span>`)
	goes(t, operator.send("2"), "/panel/")
	text = operator.get("/panel/sites/").Body.String()
	has(t, text, "cheese.example")
	if strings.Contains(text, "bread.example") {
		t.Error("an operator sees more than the chosen tenant's sites")
	}
	none := s.visiting(t, gone)
	goes(t, none.get("/panel/"), "/login/?next=%2Fpanel%2F")
}
