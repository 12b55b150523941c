package operations_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	seen "hostpanel/domain/operations"
	"hostpanel/paneltest"
)

// The API tells of a tenant what its page shows.
func TestListsAreNarrowedToATenant(t *testing.T) {
	s := paneltest.Desk(t)
	tenant := strconv.Itoa(s.Count(t, `select tenant from subscriptions where order_id = $1::uuid`, s.Known["running"]))
	s.Do(t, seen.ChangedTrouble(2, "site", 1, []string{"ip_address"}).Report(time.Now()))
	for path, want := range map[string]string{
		"orders/?tenant=" + tenant: s.Known["running"], "users/?tenant=1": `"email":"ben@example.com"`,
		"incidents/?tenant=2": `"tenant":"2"`,
	} {
		body := s.Operate("GET", path, "").Body.String()
		paneltest.Has(t, body, want)
		if strings.Contains(body, s.Known["failed"]) || strings.Contains(body, "eve@example.com") ||
			strings.Contains(body, `"tenant":"1"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	paneltest.Has(t, s.Operate("GET", "orders/?tenant=999999", "").Body.String(), `"count":0`)
	if w := s.Operate("GET", "orders/?tenant=x", ""); w.Code != http.StatusBadRequest {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	stuck := s.Count(t, `select r.tenant from resources r where r.kind = 'tenant' and r.requested_for = 'order:' || $1`,
		s.Known["failed"])
	paneltest.Has(t, s.Operate("GET", "orders/?tenant="+strconv.Itoa(stuck), "").Body.String(), s.Known["failed"])
}

// An operator finds a user, sees how they sign in, and what the API lets operators do.
func TestAnOperatorLooksAfterAUserInTheBrowser(t *testing.T) {
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	const page = "/storefront/users/2/"
	list := b.Get("/storefront/users/?search=ANA%40&is_superuser=false&is_active=true").Body.String()
	paneltest.Has(t, list, page, `<span class="count">1</span>`, "Bread &amp; Co, Cheese")
	paneltest.Has(t, b.Get("/storefront/users/?is_active=false").Body.String(), `<span class="count">1</span>`,
		"gone@example.com", "may not sign in")

	s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, s.Operate("GET", "users/2/sessions/", "").Body.String(), `{"sessions":1,"has_password":`)
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "ana@example.com", "Open sessions in browsers</dt><dd>1</dd>", "Second factor</dt><dd>no</dd>",
		`<a href="/storefront/tenants/1/">Bread &amp; Co</a>`, "administrator")
	if strings.Contains(text, "disable_factor") {
		t.Error("a factor that is off can be switched off")
	}
	if w := b.Send("grant_superuser", "password", "wrong"); w.Code != http.StatusBadRequest {
		t.Errorf("without the password: %d", w.Code)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("deactivate_user"), page)
	text = b.Get(page).Body.String()
	paneltest.Has(t, text, "The account is deactivated.", "Open sessions in browsers</dt><dd>0</dd>")
	paneltest.Goes(t, b.Send("activate_user", "password", paneltest.Password), page)
	b.Get(page)
	paneltest.Goes(t, b.Send("mail_link"), page) // the password was given a moment ago
	if n := s.Events(t, "account.link_requested"); n != 1 {
		t.Errorf("%d links", n)
	}
	s.Do(t, account.EnableSecondFactor{User: paneltest.Ana, At: time.Now()})
	b.Get(page)
	paneltest.Goes(t, b.Send("disable_factor", "reason", "came in person"), page)
	b.Get(page)
	paneltest.Goes(t, b.Send("grant_superuser"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The user is a superuser.", "Take the rights away")
	b.Get("/storefront/users/5/")
	paneltest.Refused(t, b.Send("erase_user", "email", "ana@example.com"), http.StatusBadRequest,
		"This is not the address of the account.")
	b.Get("/storefront/users/5/")
	paneltest.Goes(t, b.Send("erase_user", "email", "gone@example.com"), "/storefront/users/")
	if text := b.Get("/storefront/users/").Body.String(); strings.Contains(text, "gone@example.com") ||
		!strings.Contains(text, "The account is erased.") {
		t.Error("the address is there after the erasure")
	}
	b.Get("/storefront/users/901/")
	s.Do(t, account.RevokeSuperuser{User: paneltest.Ana, At: time.Now()},
		account.RevokeSuperuser{User: paneltest.Root, At: time.Now()})
	if w := b.Send("revoke_superuser"); w.Code != http.StatusConflict {
		t.Errorf("the last superuser: %d", w.Code)
	}
}
