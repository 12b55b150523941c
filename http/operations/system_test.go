//go:build system

package operations_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	seen "hostpanel/domain/operations"
	panel "hostpanel/http"
	"hostpanel/paneltest"
)

// Another process, which has cached the key, refuses it within five seconds.
func TestARevokedKeyIsRefusedElsewhereSoon(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	elsewhere := &panel.Server{
		Settings: s.Server.Settings, Once: s.Server.Once, Limits: s.Server.Limits, Tables: s.Tables,
		TokenKeys: s.Server.TokenKeys, Log: s.Server.Log,
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
