package hosting_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// No proof is asked for a domain, but some are refused to tenants.
func TestDomainsThatATenantCannotHave(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	const root = "/hosting/api/rest/"
	zone := hosting.DNSZone{Origin: "milk.example.", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "dns_zone", ID: 1}, Tenant: 3, Spec: zone.Fields().Values()})
	const suffix, others = "This domain is a public suffix.", hosting.NearOthers
	const own = "This domain is the panel's own, or above or below it."
	for name, want := range map[string]string{
		"co.uk": suffix, "github.io": suffix,
		"panel.example": own, "x.ns1.panel.example": own,
		"milk.example": others, "shop.milk.example": others,
	} {
		for _, c := range []struct{ path, field, body string }{
			{root + "sites/", "domain", `{"domain":"NAME"}`},
			{root + "mail-domains/", "domain", `{"domain":"NAME"}`},
			{root + "dns-zones/", "origin", `{"origin":"x.NAME"}`},
			{provisionPath, "domain", `{"domain":"NAME","create_mail":true,"create_dns":true}`},
		} {
			if c.field == "origin" && want == suffix {
				c.body = `{"origin":"NAME"}`
			}
			w := s.Call("POST", c.path, strings.Replace(c.body, "NAME", name, 1),
				append(paneltest.Bearer(s.Known["ben"]), "Content-Type", "application/json")...)
			if got := w.Body.String(); w.Code != http.StatusBadRequest || !strings.Contains(got, `"`+c.field+`":["`+want+`"`) {
				t.Errorf("%s %s: %d %s", c.path, name, w.Code, got)
			}
		}
	}
	asRoot := func(method, path, body string) int {
		return s.Call(method, path, body, append(paneltest.Bearer(s.Known["root"]), "Content-Type",
			"application/json")...).Code
	}
	for _, name := range []string{"co.uk", "shop.milk.example", "panel.example"} {
		if got := asRoot("POST", root+"sites/", `{"tenant":1,"domain":"`+name+`"}`); got != http.StatusCreated {
			t.Errorf("a superuser gives a tenant any domain: %s: %d", name, got)
		}
	}
}

// What a tenant has stays its own to change; another name is a new claim.
func TestARenamedSiteClaimsItsNewDomain(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	site := hosting.Site{Domain: "co.uk", IPAddress: "*", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: 1}, Tenant: 1, Spec: site.Fields().Values()})
	patch := func(body string) string {
		return s.Call("PATCH", "/hosting/api/rest/sites/1/", body,
			append(paneltest.Bearer(s.Known["ben"]), "Content-Type", "application/json")...).Body.String()
	}
	if got := patch(`{"domain":"co.uk","ip_address":"192.0.2.7"}`); !strings.Contains(got, `"ip_address":"192.0.2.7"`) {
		t.Error(got)
	}
	if got := patch(`{"domain":"org.uk"}`); !strings.Contains(got, `"domain":["This domain is a public suffix."]`) {
		t.Error(got)
	}
}

func TestOrdersForDomainsThatTheCustomerCannotHave(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t).Stock(t)
	mail := hosting.MailDomain{Domain: "bread.example", DKIMSelector: "default", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "mail_domain", ID: 1}, Tenant: 1, Spec: mail.Fields().Values()})
	order := func(name string) string {
		return `{"plan_id":1,"customer_email":"eve@example.com","customer_name":"Eve","payment_method":"test","domain":"` +
			name + `"}`
	}
	s.Order(t, http.StatusCreated, order("cheese.example"))
	for name, want := range map[string]string{
		"co.uk":             "This domain is a public suffix.",
		"ns1.panel.example": "This domain is the panel's own, or above or below it.",
		"bread.example":     hosting.NearOthers, "shop.bread.example": hosting.NearOthers,
		"shop.cheese.example": hosting.NearOthers,
	} {
		if got := s.Order(t, http.StatusBadRequest, order(name)).Body.String(); got != `{"domain":["`+want+`"]}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A record that the engine refuses to remove is shown, and can be removed once more.
func TestARemovalThatTheEngineRefusesIsShown(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	mail := hosting.MailDomain{Domain: "stays.example", IsActive: true, DKIMSelector: "default"}
	ref := hosting.Ref{Kind: "mail_domain", ID: 1}
	s.Do(t, hosting.Request{Ref: ref, Tenant: 1, Spec: mail.Fields().Values()})
	s.Do(t, hosting.Confirm{Ref: ref, EngineID: 7})
	call := func(method string) (int, string) {
		w := s.Call(method, "/hosting/api/rest/mail-domains/1/", "", append(paneltest.Bearer(s.Known["ben"]), "Prefer", "respond-async")...)
		return w.Code, w.Body.String()
	}
	listed := func(where, want string) {
		t.Helper()
		w := s.Call("GET", "/hosting/api/rest/mail-domains/?domain=stays.example", "", paneltest.Bearer(s.Known["ben"])...)
		if body := w.Body.String(); !strings.HasPrefix(body, `{"count":`+want+`,`) {
			t.Errorf("%s, the list has: %s", where, body)
		}
	}
	for range 2 {
		if code, body := call("DELETE"); code != http.StatusNoContent {
			t.Fatal(code, body)
		}
		if code, _ := call("GET"); code != http.StatusNotFound {
			t.Errorf("it is being removed: %d", code)
		}
		listed("while it is being removed", "0")
		s.Do(t, hosting.Decline{Ref: ref, Code: "drift"})
		if code, body := call("GET"); code != http.StatusOK || !strings.Contains(body, `"sync_status":"removing"`) {
			t.Errorf("the removal is refused: %d %s", code, body)
		}
		listed("after the refusal", "1")
		if code, body := call("PATCH"); code < http.StatusBadRequest {
			t.Errorf("it is changed: %d %s", code, body)
		}
	}
	s.Do(t, hosting.Confirm{Ref: ref})
	if code, _ := call("GET"); code != http.StatusNotFound {
		t.Errorf("it is gone: %d", code)
	}
	listed("once it is gone", "0")
}

// The host names of other tenants' machines stand in the reverse zones of address pools, so a
// tenant makes none of them. An operator gives it one.
func TestTheReverseZonesOfAddressPoolsAreNotForTenants(t *testing.T) {
	t.Parallel()
	s := paneltest.Everything(t)
	pool := hosting.AddressPool{Name: "one", Network: "198.51.100.0/25"}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: 9}, Spec: pool.Fields().Values()})
	for _, c := range []struct {
		who, origin string
		status      int
	}{
		{"ben", "100.51.198.in-addr.arpa", http.StatusBadRequest},
		{"ben", "7.100.51.198.in-addr.arpa", http.StatusBadRequest},
		{"ben", "198.in-addr.arpa", http.StatusBadRequest},
		{"ben", "101.51.198.in-addr.arpa", http.StatusCreated},
		{"root", "100.51.198.in-addr.arpa", http.StatusCreated},
	} {
		w := s.Call("POST", "/hosting/api/rest/dns-zones/", `{"tenant":1,"origin":"`+c.origin+`"}`,
			append(paneltest.Bearer(s.Known[c.who]), "Content-Type", "application/json")...)
		if w.Code != c.status {
			t.Errorf("%s asks for %s: %d %s", c.who, c.origin, w.Code, w.Body)
		}
	}
}
