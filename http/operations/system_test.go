//go:build system

package operations_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	panel "hostpanel/http"
	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// Another process, which has cached the key, refuses it within five seconds.
func TestARevokedKeyIsRefusedElsewhereSoon(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	elsewhere := &panel.Server{
		Settings: s.Server.Settings, Once: s.Server.Once, Limits: s.Server.Limits, Tables: s.Tables,
		TokenKeys: s.Server.TokenKeys, Log: s.Server.Log, Storefront: s.Server.Storefront,
	}
	handler := elsewhere.Handler()
	get := func() int {
		r := httptest.NewRequest("GET", "/storefront/api/plans/", nil)
		r.Header.Set("X-API-Key", s.Known["sister"])
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := get(); code != http.StatusOK {
		t.Fatal(code)
	}
	s.Operate("POST", "api-keys/Sister01/revoke/", "")
	for revoked := time.Now(); get() == http.StatusOK; time.Sleep(50 * time.Millisecond) {
		if time.Since(revoked) > 6*time.Second {
			t.Fatal("the key still opens the storefront")
		}
	}
}

// The pages of operators are accessible in both languages, also with empty lists and with
// questions that make no sense. A user who is no operator gets none of them.
func TestThePagesOfOperatorsAreForEverybodyAndOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	s.Resident(t, 903, "not"+paneltest.OpMail, "en", false)
	s.Do(t, seen.OrphanTrouble(1, "site", 99).Report(time.Now()))
	order := "orders/" + s.Known["running"] + "/"
	pages := []string{
		"orders/", "orders/?status=nonsense&page=-1", "orders/?search=nothing+like+it", order,
		"orders/" + s.Known["failed"] + "/", "orders/" + s.Known["unpaid"] + "/",
		"runs/", "runs/?status=nonsense&page=-1", "runs/?status=parked", "runs/?search=nothing",
		"runs/" + s.Known["run"] + "/", "runs/" + s.Known["parked"] + "/",
		"incidents/", "incidents/?kind=nonsense&page=-1", "incidents/?is_settled=true",
		"incidents/" + paneltest.Lonely.ID().String() + "/", "incidents/" + paneltest.ChangedAtEngine.ID().String() + "/",
		"inbox/", "inbox/?state=nonsense&page=-1", "inbox/?search=none", "inbox/1/", "reconciliation/",
		"plans/", "plans/?is_active=false&search=nothing+like+it", "plans/?page=-1&resource_type=nonsense", "plans/1/",
		"plans/2/",
		"plans/new/", "plans/new/?resource_type=saas", "widgets/", "widgets/new/", "widgets/1/",
		"tenants/", "tenants/?search=none&status=nonsense&page=-1", "tenants/1/", "users/", "users/?is_active=maybe",
		"users/5/", "users/1/",
	}
	for language, mail := range map[string]string{"en": paneltest.OpMail, "es": "es" + paneltest.OpMail} {
		b := s.Browser(t).Enter(mail)
		for _, path := range pages {
			w := b.Get("/storefront/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.IsForEverybody(t, language, w.Body.String())
		}
		b.Get("/storefront/plans/new/")
		b.IsForEverybody(t, language, b.Send("create_plan").Body.String())
		paneltest.Has(t, b.Get("/storefront/"+order).Body.String(), `id="hooks"`)
		for _, link := range paneltest.Elements(paneltest.Elements(b.Page, "main")[0], "a") {
			if paneltest.Attribute(link, "href") == b.Address {
				t.Errorf("the page of an order leads to itself: %s", paneltest.TextOf(link))
			}
		}
		b.IsForEverybody(t, language, b.Send("cancel").Body.String())
	}
	if w := s.Browser(t).Enter(paneltest.OpMail).Get("/storefront/orders/" + s.Known["run"] +
		"/"); w.Code != http.StatusNotFound {
		t.Errorf("no order: %d", w.Code)
	}
	user, administrator := s.Browser(t).Enter("not"+paneltest.OpMail), s.Visiting(t, paneltest.Ana)
	for _, path := range pages {
		for _, b := range []*paneltest.Browser{user, administrator} {
			if w := b.Get("/storefront/" + path); w.Code != http.StatusForbidden {
				t.Errorf("%s: no operator: %d", path, w.Code)
			}
		}
	}
	paneltest.Goes(t, s.Browser(t).Get("/storefront/orders/"), "/login/?next=%2Fstorefront%2Forders%2F")
}

// An operator finds a tenant by its name or slug, sees all that concerns it, and suspends,
// resumes and terminates it.
func TestAnOperatorLooksAfterATenantInTheBrowser(t *testing.T) {
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	tenant := s.Count(t, `select tenant from subscriptions where order_id = $1::uuid`, s.Known["running"])
	page := "/storefront/tenants/" + strconv.Itoa(tenant) + "/"
	s.Do(t, seen.ChangedTrouble(int64(tenant), "site", 1, []string{"ip_address"}).Report(time.Now()))

	paneltest.Has(t, b.Get("/storefront/tenants/?search=bread").Body.String(), `<span class="count">1</span>`,
		"Bread &amp; Co", `href="/storefront/tenants/1/"`)
	paneltest.Has(t, b.Get("/storefront/tenants/?search=T2").Body.String(), `<span class="count">1</span>`,
		"Cheese") // its slug
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "in service", s.Known["running_number"], "/storefront/orders/"+s.Known["running"]+"/",
		"ana@example.com", "/storefront/incidents/", "Sites", "<progress", "Usage against limits", "Act for this tenant")
	if strings.Contains(text, s.Known["failed_number"]) {
		t.Error("the order of another tenant is shown")
	}

	paneltest.Goes(t, b.Send("suspend_tenant", "suspended_reason", "<b>unpaid</b>"), page)
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "The tenant is suspended.", `badge failed">suspended`, "&lt;b&gt;unpaid&lt;/b&gt;",
		"Suspended since")
	paneltest.Has(t, b.Get("/storefront/tenants/?status=suspended").Body.String(), `<span class="count">1</span>`, page)
	if strings.Contains(text, `value="suspend_tenant"`) {
		t.Error("it can be suspended twice")
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("resume_tenant"), page)
	if text = b.Get(page).Body.String(); strings.Contains(text, "unpaid") {
		t.Error("the reason outlives the suspension")
	}
	path, sent := b.Fill("terminate_tenant")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), "/storefront/tenants/")
	paneltest.Has(t, b.Get("/storefront/tenants/").Body.String(), "The tenant is terminated.")
	if w := twin.Do("POST", path, sent.Encode()); w.Code != http.StatusSeeOther && w.Code != http.StatusNotFound {
		t.Errorf("again: %d", w.Code)
	}
	if w := b.Get(page); w.Code != http.StatusNotFound {
		t.Errorf("a terminated tenant: %d", w.Code)
	}
	if n := s.Count(t, `select count(*) from events where actor = 'operator:901' and name = 'hosting.changed' and `+
		`stream = $1`, "tenant-"+strconv.Itoa(tenant)); n < 2 {
		t.Errorf("%d events of the operator", n)
	}
}

func TestADisputeThatIsLostLeavesARunThatOperatorsMayDirect(t *testing.T) { // T23, V3
	t.Parallel()
	s := paneltest.Office(t).Start(t)
	a := s.Bought(t, "lost.example")
	path, key := "orders/"+a.ID+"/", "deprovision:"+a.ID
	s.Accepted(t, path+"dispute/", `{"outcome":"open","reason":"a letter of the bank"}`)
	notNow(t, s.Operate("POST", path+"end_grace/", `{"reason":"too early"}`))
	paneltest.Has(t, s.Accepted(t, path+"dispute/", `{"outcome":"lost","reason":"the bank has decided"}`),
		`"status":"refunded"`, `"status":"lost"`)

	run := s.Stands(t, key, "grace")
	paneltest.Has(t, s.Accepted(t, run+"pause/", `{"reason":"the customer calls"}`), `"status":"paused"`)
	notNow(t, s.Operate("POST", path+"end_grace/", `{"reason":"while it is paused"}`))
	s.Accepted(t, run+"resume/", `{"reason":"they have called"}`)
	s.Stands(t, key, "grace")
	s.Accepted(t, run+"release/", `{"reason":"look again"}`)
	s.Stands(t, key, "grace")

	paneltest.Has(t, s.Accepted(t, path+"end_grace/", `{"reason":"nothing is needed any more"}`), `"status":"refunded"`)
	s.Until(t, "it is removed", func() bool {
		return s.Count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
	notNow(t, s.Operate("POST", path+"end_grace/", `{"reason":"once more"}`))
	if n := s.Count(t, `select count(*) from events where name = 'saga.step_skipped' and actor = 'operator:1'`); n != 1 {
		t.Errorf("%d facts of the operator", n)
	}
}

// An operator has a read table built anew, in the browser or by a call, and is told how far
// that is and which rows were wrong. Both ways lead to one operation.
func TestAnOperatorHasAReadTableBuiltAnew(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	if _, err := s.Owner.Exec(t.Context(), `
		insert into saga_queue (queue, max_in_flight, paused) values ('rebuild', 1, true);
		update users set language = 'es' where id = 4`); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	const page, path = "/storefront/read-tables/", "/operations/api/v1/projections/users/rebuild/"
	b := s.Browser(t).Enter(paneltest.OpMail)
	b.Get(page)
	paneltest.Goes(t, b.Send("users"), page)
	shown := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", shown)
	paneltest.Has(t, shown, "The table is being built anew.", `Last rebuild: <span class="badge pending">waiting</span>`)
	if paneltest.Has(t, shown, `<li id="table-users" data-every="2">`); strings.Count(shown, "data-every") != 1 {
		t.Error("what is not being built anew is looked at again and again")
	}
	if strings.Contains(shown, `name="of" value="users"`) {
		t.Error("a table that is being built anew can be asked for again")
	}

	id := paneltest.Queued(t, s.Call("POST", path, "", paneltest.Bearer(s.Known["root"])...))
	if again := paneltest.Queued(t, s.Call("POST", path, "", paneltest.Bearer(s.Known["root"])...)); again != id ||
		s.Count(t, `select count(*) from operations where projection = 'users'`) != 1 {
		t.Errorf("the second request is operation %s, not %s", again, id)
	}
	for who, code := range map[string]int{"ana": http.StatusForbidden, "eve": http.StatusForbidden} {
		for _, w := range []*httptest.ResponseRecorder{
			s.Call("POST", path, "", paneltest.Bearer(s.Known[who])...),
			s.Call("POST", strings.Replace(path, "users", "nothing", 1), "", paneltest.Bearer(s.Known[who])...),
		} {
			if w.Code != code {
				t.Errorf("%s: %d %s", who, w.Code, w.Body)
			}
		}
	}
	if w := s.Call("POST", strings.Replace(path, "users", "nothing", 1), "",
		paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("a table that there is not: %d %s", w.Code, w.Body)
	}
	if _, err := s.Owner.Exec(t.Context(), `update saga_queue set paused = false where queue = 'rebuild'`); err != nil {
		t.Fatal(err)
	}
	done := s.Done(t, id, "root")
	if got := fmt.Sprint(done.Status, done.Error, done.Result["projection"], done.Result["different"],
		done.Result["differences"]); got != "succeededusers1 [map[columns:[language] key:4 table:users what:changed]]" {
		t.Error(got)
	}
	if s.Count(t, `select count(*) from users where id = 4 and language = 'en'`) != 1 {
		t.Error("the table is not what the log says")
	}
	for language, c := range map[string]struct{ mail, state, different, row string }{
		"en": {paneltest.OpMail, "built anew", "rows that differed: 1", "users 4: changed (language)"},
		"es": {"es" + paneltest.OpMail, "reconstruida", "filas que diferían: 1", "users 4: cambiada (language)"},
	} {
		b := s.Browser(t).Enter(c.mail)
		text := b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		if strings.Contains(text, "data-every") {
			t.Error("the page does not come to rest")
		}
		paneltest.Has(t, text, `<span class="badge active">`+c.state, c.different, c.row, `name="of" value="users"`)
	}
	if w := b.Send("plans", "of", "nothing"); w.Code != http.StatusBadRequest {
		t.Errorf("a form about nothing: %d", w.Code)
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

// The page of an order tells a dispute in words: how it stands, and what happens next. Of
// one that the provider only reports, an operator says how it stands.
func TestADisputeIsToldInWordsOnThePageOfItsOrder(t *testing.T) {
	s := paneltest.Office(t).Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	b, spanish := s.Browser(t).Enter(paneltest.OpMail), s.Browser(t).Enter("es"+paneltest.OpMail)
	a := s.Bought(t, "claimed.example")
	page := "/storefront/orders/" + a.ID + "/"
	if text := b.Get(page).Body.String(); strings.Contains(text, `aria-labelledby="dispute"`) ||
		strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute is told of that there is not")
	}
	s.Do(t, order.ReportDispute{ID: uuid.MustParse(a.ID), At: time.Now()})
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "to be confirmed", "the report could be forged", "Look at the provider how it stands")

	if w := b.Send("dispute", "outcome", "open"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("dispute", "outcome", "open", "reason", "seen at the provider"), page)
	s.Until(t, "the service is off", func() bool {
		return strings.Contains(b.Get(page).Body.String(), "The service is off until the dispute is decided.")
	})
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "bank claims €2.99 back.", "If it is won, everything is as it was before.",
		"and its service ends.", `badge open">open`)
	if strings.Contains(text, `<option value="open"`) {
		t.Error("an open dispute can be opened")
	}
	spanishText := spanish.Get(page).Body.String()
	spanish.IsForEverybody(t, "es", spanishText)
	paneltest.Has(t, spanishText, "El banco del cliente reclama 2,99\u00a0€.", "El servicio está apagado")

	paneltest.Goes(t, b.Send("dispute", "outcome", "won", "reason", "the bank gives in"), page)
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "The dispute is won: €2.99 stays", "The state of the dispute is recorded.")
	if strings.Contains(text, `value="dispute"`) {
		t.Error("a dispute that is over can be decided")
	}
	s.Accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"lost","reason":"the bank has thought better of it"}`)
	paneltest.Has(t, b.Get(page).Body.String(), "The dispute is lost: €2.99 went back", "The order counts as refunded",
		`badge failed">lost`)
}

// An operator looks at every mail in both languages, in the panel's brand and in that of a
// tenant. Each is what would be sent, with made-up data.
func TestAnOperatorLooksAtMailsInTheBrowser(t *testing.T) {
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	brand := hosting.WhiteLabel{
		BrandName: "Panadería <b>Sol</b>", PrimaryColor: "#123456", SecondaryColor: "#222222", SidebarBGColor: "#333333",
		SidebarColor: "#444444", IsActive: true,
	}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: brand.Fields().Values()})
	list := b.Get("/storefront/mails/?language=es").Body.String()
	b.IsForEverybody(t, "en", list)
	paneltest.Has(t, list, "Bread &amp; Co", `<option value="es" selected>`)
	queries := []string{"?language=en", "?language=es", "?language=es&tenant=1"}
	for i, name := range notice.Templates() {
		for _, query := range queries[i%3 : i%3+1] { // one for each
			path := "/storefront/mails/" + name + "/"
			text := b.Get(path + query).Body.String()
			b.IsForEverybody(t, "en", text)
			var sent struct{ Subject, Text, HTML string }
			paneltest.Decode(t, s.Operate("GET", "mail-previews/"+name+"/"+query, ""), http.StatusOK, &sent)
			if !strings.Contains(list, path) || paneltest.TextOf(paneltest.Elements(b.Page,
				"h1")[0]) != strings.TrimSpace(sent.Subject) {
				t.Errorf("%s%s: not in the list, or with another subject than %q", name, query, sent.Subject)
			}
			w := b.Get(path + "html/" + query)
			if w.Body.String() != sent.HTML || !strings.Contains(w.Header().Get("Content-Security-Policy"), "sandbox") {
				t.Errorf("%s%s: the designed part differs from that of the API, or may run something", name, query)
			}
			paneltest.Has(t, text, "Content-Language</dt><dd>"+query[len("?language="):len("?language=en")])
			if branded := strings.Contains(sent.HTML, "&lt;b&gt;Sol"); branded != strings.HasSuffix(query, "tenant=1") ||
				strings.Contains(sent.HTML, "<b>Sol") {
				t.Errorf("%s%s: in the brand of the tenant: %t", name, query, branded)
			}
			if strings.Contains(sent.Text+sent.HTML, paneltest.Emails[paneltest.Eve]) ||
				strings.Contains(sent.Text+sent.HTML, paneltest.OpMail) {
				t.Errorf("%s%s tells of a person", name, query)
			}
		}
	}
	for _, path := range []string{
		"?language=fr&tenant=999999", "?tenant=x", "invoice_created/?tenant=-1&language=",
		"invoice_created/html/?tenant=999999",
	} {
		if w := b.Get("/storefront/mails/" + path); w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := b.Get("/storefront/mails/birthday/"); w.Code != http.StatusNotFound {
		t.Errorf("no mail: %d", w.Code)
	}
	for _, path := range []string{"", "invoice_created/", "invoice_created/html/"} {
		if w := s.Visiting(t, paneltest.Ana).Get("/storefront/mails/" + path); w.Code != http.StatusForbidden {
			t.Errorf("%s for no operator: %d", path, w.Code)
		}
	}
}

func TestOneOfManyEqualAccountsIsOpened(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	answers := s.AtOnce(50, func(i int) *httptest.ResponseRecorder {
		email := "new@example.com"
		if i%2 == 0 {
			email = "NEW@Example.com"
		}
		return s.Operate("POST", "users/", `{"email":"`+email+`"}`)
	})
	paneltest.Wins(t, answers, http.StatusCreated, `400 {"email":["user with this email already exists."]}`)
	if n := s.Count(t, `select count(*) from users where email ilike 'new@example.com'`); n != 1 {
		t.Fatalf("%d users", n)
	}
}

// An operator finds a run that has stopped, reads why, and lets it go on.
func TestAnOperatorLetsAStoppedRunGoOnInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t).Start(t)
	broken, key := parkedRun(t, s)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/runs/" + sagas.RunID(key).String() + "/"
	found := b.Get("/storefront/runs/?status=parked&search=" + key).Body.String()
	paneltest.Has(t, found, page, key, "Change at the engine", `badge parked">stopped`, `<span class="count">1</span>`)
	if none := b.Get("/storefront/runs/?search=nothing-like-it").Body.String(); strings.Contains(none, page) {
		t.Error("the search leaves what it does not name")
	}
	paneltest.Has(t, b.Get(page).Body.String(), "Bring the engine to what is wanted", `<p class="mistake">`,
		"failed for good", "What was done outside", "Let it go on")
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := b.Send("retry_run"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	path, sent := b.Fill("retry_run", "reason", "the engine is well again")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), page)
	twin.Do("POST", path, sent.Encode())
	s.Until(t, "it is done", func() bool {
		return s.Count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
	paneltest.Has(t, b.Get(page).Body.String(), "The run goes on.", `badge done">done`)
	if n := s.Count(t, `select count(*) from events where name = 'saga.retried' and stream = $1`,
		"saga-"+sagas.RunID(key).String()); n != 1 {
		t.Errorf("it was let go on %d times", n)
	}
}

// An operator finds the order that needs a person, sees why, and lets it go on.
func TestAnOperatorLetsAStoppedOrderGoOnInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/orders/" + s.Known["failed"] + "/"
	s.Until(t, "operators are told, with the way to the page", func() bool {
		return s.Count(t, `select count(*) from events where name = 'notification.raised' and data->>'url' = $1`, page) > 0
	})
	paneltest.Has(t, b.Get("/storefront/orders/").Body.String(), s.Known["running_number"], s.Known["failed_number"],
		s.Known["unpaid_number"], `<span class="count">3</span>`)
	failed := b.Get("/storefront/orders/?status=failed&search=fails.example").Body.String()
	paneltest.Has(t, failed, page, "Failed")
	if strings.Contains(failed, s.Known["running_number"]) {
		t.Error("orders in another status are shown")
	}
	text := b.Get(page).Body.String()
	paneltest.Has(t, text, "fails.example", `badge parked">stopped`, "What has happened", "Let it go on")
	if n := strings.Count(text, `name="form" value="retry"`); n != 1 {
		t.Errorf("%d forms to go on", n)
	}
	if err := faults.For(s.Pool(), "engine").Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	paneltest.Goes(t, b.Send("retry", "reason", "the engine is well again"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The order goes on.")
	s.Await(t, paneltest.Answer{ID: s.Known["failed"]}, order.StatusActive)
	paneltest.Has(t, b.Get(page).Body.String(), `badge active">Active`, "Send the welcome mail again")
}

func TestAnActionWithAReasonIsAnEventOfTheOperator(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	before := s.Count(t, `select max(position) from events`)
	for _, call := range [][3]string{
		{"orders/" + s.Known["unpaid"] + "/recheck/", `{"reason":"the customer called"}`, "operations.recheck_requested"},
		{"orders/" + s.Known["failed"] + "/retry/", `{"input":{"domain":"else.example"}}`, "order.provisioning_resumed"},
		{"webhook-inbox/1/replay/", ``, "operations.webhook_replayed"},
		{"webhook-inbox/replay/", `{"provider":"test","dry_run":false,"reason":"once more"}`, "operations.webhooks_replayed"},
	} {
		if w := s.Operate("POST", call[0], call[1]); w.Code != http.StatusAccepted {
			t.Fatal(call, w.Code, w.Body)
		}
		if n := s.Count(t, `select count(*) from events where position > $1 and name = $2 and actor = 'operator:1'`, before,
			call[2]); n != 1 {
			t.Errorf("%d events %s by the operator", n, call[2])
		}
	}
}

func TestAMembershipIsGrantedOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	answers := s.AtOnce(50, func(int) *httptest.ResponseRecorder {
		return s.Operate("POST", "users/4/memberships/", `{"tenant":1}`)
	})
	paneltest.Wins(t, answers, http.StatusCreated,
		`400 {"non_field_errors":["The fields user, tenant must make a unique set."]}`)
}

// An action with another version of the order in If-Match is refused.
func TestAnActionOnAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	path := "orders/" + s.Known["failed"] + "/"
	tag := s.Operate("GET", path, "").Header().Get("ETag")
	if w := s.Operate("POST", path+"retry/", `{}`, "If-Match", `"order-1-1"`); w.Code != http.StatusPreconditionFailed ||
		w.Header().Get("ETag") != tag {
		t.Errorf("%d %s, now %s, seen %s", w.Code, w.Body, w.Header().Get("ETag"), tag)
	}
	if w := s.Operate("POST", path+"retry/", `{}`, "If-Match", tag); w.Code != http.StatusAccepted {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The comparison shows orders with what repairs them, and differences to the engine.
func TestAnOperatorSeesWhatDoesNotFitInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	text := b.Get("/storefront/reconciliation/").Body.String()
	paneltest.Has(t, text, "Paid, and not set up", s.Known["failed_number"], "/storefront/orders/"+s.Known["failed"]+"/",
		"let the order go on, or skip the step", notice.IncidentPage(paneltest.ChangedAtEngine.ID()))
	if strings.Contains(text, s.Known["running_number"]) ||
		strings.Contains(text, notice.IncidentPage(paneltest.Lonely.ID())) {
		t.Error("what fits is shown, or an incident that is no difference")
	}
	s.Do(t, paneltest.ChangedAtEngine.Settle("it is over", time.Now()))
	s.Accepted(t, "orders/"+s.Known["failed"]+"/cancel/", `{"reason":"asked for by mail"}`)
	s.Until(t, "its money is back", func() bool {
		text = b.Get("/storefront/reconciliation/").Body.String()
		return strings.Contains(text, "All orders fit together.")
	})
	paneltest.Has(t, text, "The records and the engine do not differ.")
}

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	for range 20 {
		created := struct{ ID, Key string }{}
		paneltest.Decode(t, s.Operate("POST", "api-keys/", `{"name":"Shop","rate_limit_per_minute":6000}`),
			http.StatusCreated, &created)
		get := func() int { return s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", created.Key).Code }
		if code := get(); code != http.StatusOK {
			t.Fatal(code)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for get() == http.StatusOK {
			}
		}()
		if w := s.Operate("POST", "api-keys/"+created.ID+"/revoke/", ""); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		if code := get(); code != http.StatusUnauthorized {
			t.Fatal(code)
		}
		<-done
	}
}

// An operator makes an order form and sees what it looks like, and the lines that a
// website needs.
func TestOperatorsMakeOrderFormsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	paneltest.Has(t, b.Get("/storefront/widgets/new/").Body.String(), `value="#4F46E5"`, "Plans and their numbers",
		`href="/storefront/plans/1/"`)
	paneltest.Refused(t, b.Send("create_widget", "name", "Shop", "primary_color", "red", "plans", "1\n999"),
		http.StatusBadRequest, "999")
	w := b.Send("create_widget", "name", "Shop", "theme", "dark", "primary_color", "#112233", "plans", "1", "success_url",
		"https://shop.example/thanks")
	made := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(made, "/storefront/widgets/1") {
		t.Fatalf("%d %s %s", w.Code, made, w.Body)
	}
	paneltest.Has(t, b.Get(made).Body.String(), "The order form is made.", "data-preview=\"/storefront/preview/",
		"/storefront/widget.js", "data-api-key", `value="https://shop.example/thanks"`)
	paneltest.Goes(t, b.Send("change_widget", "success_url", "", "layout", "table", "plans", ""), made)
	paneltest.Has(t, s.Operate("GET", "widgets/"+strings.TrimPrefix(made, "/storefront/widgets/"), "").Body.String(),
		`"success_url":""`, `"layout":"table"`, `"theme":"dark"`, `"plans":[]`)
	b.Get(made)
	paneltest.Goes(t, b.Send("remove_widget"), "/storefront/widgets/")
	if w := b.Get(made); w.Code != http.StatusNotFound {
		t.Errorf("the order form is there: %d", w.Code)
	}
}

func TestOneSuperuserStays(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"is_superuser":false}`, `{"is_active":false}`} {
		s := paneltest.Office(t)
		s.Do(t, account.GrantSuperuser{User: paneltest.Ben})
		tokens := map[int]string{1: s.Known["root"], 3: s.Token(t, paneltest.Ben, nil)}
		s.AtOnce(2, func(i int) *httptest.ResponseRecorder {
			who, whom := 1+2*i, 3-2*i
			return s.Call("PATCH", fmt.Sprintf("%susers/%d/", paneltest.Operations, whom), body,
				paneltest.Bearer(tokens[who])...)
		})
		if n := s.Count(t, `select count(*) from users where is_superuser and is_active`); n != 1 {
			t.Fatalf("%s: %d superusers are left", body, n)
		}
	}
}

// A repeated action with the same idempotency key has no further effect.
func TestARepeatedActionActsOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	path, body := "orders/"+s.Known["failed"]+"/retry/", `{"input":{"domain":"else.example"}}`
	first := s.Operate("POST", path, body, "Idempotency-Key", "once")
	if first.Code != http.StatusAccepted {
		t.Fatal(first.Code, first.Body)
	}
	again := s.Operate("POST", path, body, "Idempotency-Key", "once")
	if again.Code != http.StatusAccepted || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.Code, again.Body)
	}
	if n := s.Events(t, "order.provisioning_resumed"); n != 1 {
		t.Errorf("it went on %d times", n)
	}
}

func TestOneOfManyPlansGetsASlug(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	answers := s.AtOnce(50, func(int) *httptest.ResponseRecorder {
		return s.Operate("POST", "plans/", `{"name":"Wanted","slug":"wanted","price":1,"resource_type":"saas"}`)
	})
	paneltest.Wins(t, answers, http.StatusCreated, `400 {"slug":["plan with this slug already exists."]}`)
}
