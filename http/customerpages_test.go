package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	seen "hostpanel/domain/operations"
)

// An operator finds a tenant by its name or slug, sees all that concerns it, and suspends,
// resumes and terminates it.
func TestAnOperatorLooksAfterATenantInTheBrowser(t *testing.T) {
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	tenant := s.count(t, `select tenant from subscriptions where order_id = $1::uuid`, s.known["running"])
	page := "/storefront/tenants/" + strconv.Itoa(tenant) + "/"
	s.do(t, seen.ChangedTrouble(int64(tenant), "site", 1, []string{"ip_address"}).Report(time.Now()))

	has(t, b.get("/storefront/tenants/?search=bread").Body.String(), `<span class="count">1</span>`, "Bread &amp; Co", `href="/storefront/tenants/1/"`)
	has(t, b.get("/storefront/tenants/?search=T2").Body.String(), `<span class="count">1</span>`, "Cheese") // its slug
	text := b.get(page).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, "in service", s.known["running_number"], "/storefront/orders/"+s.known["running"]+"/", "ana@example.com", "/storefront/incidents/", "Sites", "<progress", "Usage against limits", "Act for this tenant")
	if strings.Contains(text, s.known["failed_number"]) {
		t.Error("the order of another tenant is shown")
	}

	goes(t, b.send("suspend_tenant", "suspended_reason", "<b>unpaid</b>"), page)
	text = b.get(page).Body.String()
	has(t, text, "The tenant is suspended.", `badge failed">suspended`, "&lt;b&gt;unpaid&lt;/b&gt;", "Suspended since")
	has(t, b.get("/storefront/tenants/?status=suspended").Body.String(), `<span class="count">1</span>`, page)
	if strings.Contains(text, `value="suspend_tenant"`) {
		t.Error("it can be suspended twice")
	}
	b.get(page)
	goes(t, b.send("resume_tenant"), page)
	if text = b.get(page).Body.String(); strings.Contains(text, "unpaid") {
		t.Error("the reason outlives the suspension")
	}
	path, sent := b.fill("terminate_tenant")
	twin := b.twin()
	goes(t, b.do("POST", path, sent.Encode()), "/storefront/tenants/")
	has(t, b.get("/storefront/tenants/").Body.String(), "The tenant is terminated.")
	if w := twin.do("POST", path, sent.Encode()); w.Code != http.StatusSeeOther && w.Code != http.StatusNotFound {
		t.Errorf("again: %d", w.Code)
	}
	if w := b.get(page); w.Code != http.StatusNotFound {
		t.Errorf("a terminated tenant: %d", w.Code)
	}
	if n := s.count(t, `select count(*) from events where actor = 'operator:901' and name = 'hosting.changed' and stream = $1`, "tenant-"+strconv.Itoa(tenant)); n < 2 {
		t.Errorf("%d events of the operator", n)
	}
}

// The API tells of a tenant what its page shows.
func TestListsAreNarrowedToATenant(t *testing.T) {
	s := desk(t)
	tenant := strconv.Itoa(s.count(t, `select tenant from subscriptions where order_id = $1::uuid`, s.known["running"]))
	s.do(t, seen.ChangedTrouble(2, "site", 1, []string{"ip_address"}).Report(time.Now()))
	for path, want := range map[string]string{
		"orders/?tenant=" + tenant: s.known["running"], "users/?tenant=1": `"email":"ben@example.com"`, "incidents/?tenant=2": `"tenant":"2"`,
	} {
		body := s.operate("GET", path, "").Body.String()
		has(t, body, want)
		if strings.Contains(body, s.known["failed"]) || strings.Contains(body, "eve@example.com") || strings.Contains(body, `"tenant":"1"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	has(t, s.operate("GET", "orders/?tenant=999999", "").Body.String(), `"count":0`)
	if w := s.operate("GET", "orders/?tenant=x", ""); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	stuck := s.count(t, `select r.tenant from resources r where r.kind = 'tenant' and r.requested_for = 'order:' || $1`, s.known["failed"])
	has(t, s.operate("GET", "orders/?tenant="+strconv.Itoa(stuck), "").Body.String(), s.known["failed"])
}

// An operator finds a user, sees how they sign in, and what the API lets operators do.
func TestAnOperatorLooksAfterAUserInTheBrowser(t *testing.T) {
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	const page = "/storefront/users/2/"
	list := b.get("/storefront/users/?search=ANA%40&is_superuser=false&is_active=true").Body.String()
	has(t, list, page, `<span class="count">1</span>`, "Bread &amp; Co, Cheese")
	has(t, b.get("/storefront/users/?is_active=false").Body.String(), `<span class="count">1</span>`, "gone@example.com", "may not sign in")

	s.visiting(t, ana)
	has(t, s.operate("GET", "users/2/sessions/", "").Body.String(), `{"sessions":1,"has_password":`)
	text := b.get(page).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, "ana@example.com", "Open sessions in browsers</dt><dd>1</dd>", "Second factor</dt><dd>no</dd>", `<a href="/storefront/tenants/1/">Bread &amp; Co</a>`, "administrator")
	if strings.Contains(text, "disable_factor") {
		t.Error("a factor that is off can be switched off")
	}
	if w := b.send("grant_superuser", "password", "wrong"); w.Code != http.StatusBadRequest {
		t.Errorf("without the password: %d", w.Code)
	}
	b.get(page)
	goes(t, b.send("deactivate_user"), page)
	text = b.get(page).Body.String()
	has(t, text, "The account is deactivated.", "Open sessions in browsers</dt><dd>0</dd>")
	goes(t, b.send("activate_user", "password", password), page)
	b.get(page)
	goes(t, b.send("mail_link"), page) // the password was given a moment ago
	if n := s.events(t, "account.link_requested"); n != 1 {
		t.Errorf("%d links", n)
	}
	s.do(t, account.EnableSecondFactor{User: ana, At: time.Now()})
	b.get(page)
	goes(t, b.send("disable_factor", "reason", "came in person"), page)
	b.get(page)
	goes(t, b.send("grant_superuser"), page)
	has(t, b.get(page).Body.String(), "The user is a superuser.", "Take the rights away")
	b.get("/storefront/users/5/")
	refused(t, b.send("erase_user", "email", "ana@example.com"), http.StatusBadRequest, "This is not the address of the account.")
	b.get("/storefront/users/5/")
	goes(t, b.send("erase_user", "email", "gone@example.com"), "/storefront/users/")
	if text := b.get("/storefront/users/").Body.String(); strings.Contains(text, "gone@example.com") || !strings.Contains(text, "The account is erased.") {
		t.Error("the address is there after the erasure")
	}
	b.get("/storefront/users/901/")
	s.do(t, account.RevokeSuperuser{User: ana, At: time.Now()}, account.RevokeSuperuser{User: root, At: time.Now()})
	if w := b.send("revoke_superuser"); w.Code != http.StatusConflict {
		t.Errorf("the last superuser: %d", w.Code)
	}
}

func TestThePagesOfCustomersAreForEverybodyAndOperatorsAlone(t *testing.T) {
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range []string{"tenants/", "tenants/?search=none&status=nonsense&page=-1", "tenants/1/", "users/", "users/?is_active=maybe", "users/5/", "users/1/"} {
			w := b.get("/storefront/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
	}
	administrator := s.visiting(t, ana)
	for _, path := range []string{"tenants/", "tenants/1/", "users/", "users/2/"} {
		if w := administrator.get("/storefront/" + path); w.Code != http.StatusForbidden {
			t.Errorf("%s for no operator: %d", path, w.Code)
		}
	}
}
