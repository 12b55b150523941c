package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

const (
	tenantsAPI = "/hosting/api/rest/tenants/"
	newClient  = `{"name":"Client","email":"client@example.com"}`
)

// reseller gives tenant 1, of which ana is an administrator and ben a member, a SaaS
// service with room for so many sub-tenants.
func reseller(t *testing.T, s *paneltest.Shop, accounts int64, whiteLabel bool) {
	t.Helper()
	saas := hosting.SaaSLimits{MaxVMs: 7, MaxHostingAccounts: accounts, MaxAgents: 2, WhiteLabel: whiteLabel}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: saas.Fields().Values()})
	s.PastPeople(t)
}

// subTenant makes a sub-tenant of tenant 1.
func subTenant(t *testing.T, s *paneltest.Shop, name string) (path string, id int64) {
	t.Helper()
	w := s.Call("POST", tenantsAPI, `{"name":"`+name+`","email":"client@example.com"}`,
		paneltest.Bearer(s.Known["ana"])...)
	if w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	id = numberOf(t, w)
	return fmt.Sprint(tenantsAPI, id, "/"), id
}

// numberOf is the number of what was made.
func numberOf(t *testing.T, w *httptest.ResponseRecorder) int64 {
	t.Helper()
	var made struct{ ID int64 }
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return made.ID
}

func TestAResellerManagesSubTenantsAndNobodyElseDoes(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Person(t, 90, "carl@example.com", false)
	s.Do(t, account.GrantMembership{User: 90, Tenant: 3, Role: account.Admin, At: time.Now()})
	s.Known["carl"] = s.Token(t, 90, nil)
	s.Answers(t, "POST", tenantsAPI, newClient,
		map[string]int{"ana": 403, "ben": 403, "carl": 403}) // there is no SaaS service yet
	reseller(t, s, 3, false)
	one, id := subTenant(t, s, "One")

	w := s.Call("GET", one, "", paneltest.Bearer(s.Known["ana"])...)
	if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"parent":1`) ||
		!strings.Contains(got, fmt.Sprintf(`"username":"t%d"`, id)) {
		t.Errorf("%d %s", w.Code, got)
	}
	s.Answers(t, "GET", one, "", map[string]int{"ana": 200, "ben": 404, "carl": 404, "root": 200})
	s.Answers(t, "PATCH", one, `{"name":"First"}`, map[string]int{"ana": 200, "ben": 403, "carl": 404})
	s.Answers(t, "PUT", one, newClient, map[string]int{"ana": 200, "ben": 403, "carl": 403})
	s.Answers(t, "DELETE", one, "", map[string]int{"ben": 403, "carl": 403})
	s.Answers(t, "POST", one+"activate/", "", map[string]int{"ben": 404, "carl": 404})
	s.Answers(t, "GET", one+"stats/", "", map[string]int{"ana": 200, "ben": 404, "carl": 404})

	for who, want := range map[string]int64{"ana": 3, "ben": 1, "carl": 1, "root": 4} { // two memberships and a sub-tenant
		if got := paneltest.Answered[tenantPage](t,
			s.Call("GET", tenantsAPI, "", paneltest.Bearer(s.Known[who])...)); int64(got.Count) != want {
			t.Errorf("%s sees %d tenants, not %d", who, got.Count, want)
		}
	}
	s.Answers(t, "DELETE", tenantsAPI+"1/", "", map[string]int{"ana": 403}) // their own
	s.Answers(t, "DELETE", tenantsAPI+"2/", "", map[string]int{"ana": 403}) // of which they are a member
	s.Answers(t, "DELETE", tenantsAPI+"3/", "", map[string]int{"ana": 404})
	s.Answers(t, "DELETE", one, "", map[string]int{"ana": 204})
	s.Answers(t, "GET", one, "", map[string]int{"ana": 404})
}

func TestAResellerSetsNothingThatOnlyOperatorsSet(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 5, false)
	root := paneltest.Bearer(s.Known["root"])
	usual := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Usual","max_sites":1,"is_default":true}`,
		root...))
	large := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Large"}`, root...))
	make := func(fields string) (int, string) {
		w := s.Call("POST", tenantsAPI, `{"name":"Client","email":"client@example.com",`+fields+`}`,
			paneltest.Bearer(s.Known["ana"])...)
		return w.Code, w.Body.String()
	}
	for fields, want := range map[string]string{
		fmt.Sprintf(`"package":%d`, large): fmt.Sprintf(`{"package":["Invalid pk \"%d\" - object does not exist."]}`, large),
		`"package":null`:                   `{"package":["This field may not be null."]}`,
		`"parent":2`:                       `{"parent":["Invalid pk \"2\" - object does not exist."]}`,
		`"parent":null`:                    `{"parent":["Invalid pk \"0\" - object does not exist."]}`,
		`"status":"terminated"`:            `{"status":["\"terminated\" is not a valid choice."]}`,
	} {
		if status, body := make(fields); status != 400 || body != want {
			t.Errorf("%s: %d %s", fields, status, body)
		}
	}
	status, body := make(fmt.Sprintf(`"parent":1,"package":%d,"username":"root","hosting_client_id":4711,`+
		`"customer_number":"t1","is_active":false,"saas_max_hosting_accounts":100,"max_sites":-1`, usual))
	var made struct {
		ID, Package     int64
		Username        string
		IsActive        bool   `json:"is_active"`
		HostingClientID *int64 `json:"hosting_client_id"`
		CustomerNumber  string `json:"customer_number"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 201 || made.Package != usual ||
		made.Username == "root" || !made.IsActive ||
		made.HostingClientID != nil && *made.HostingClientID == 4711 || made.CustomerNumber == "t1" {
		t.Fatal(status, body, err)
	}
	one := fmt.Sprint(tenantsAPI, made.ID, "/")
	w := s.Call("PATCH", one, fmt.Sprintf(`{"package":%d}`, large), paneltest.Bearer(s.Known["ana"])...)
	if w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}

	// An operator's word counts for more than the reseller's.
	patched(t, s, one, `{"status":"suspended","suspended_reason":"Spam"}`)
	s.Answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 400})
	patched(t, s, one, `{"status":"active"}`)
	s.Answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	s.Answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 200})
	s.Answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	patched(t, s, one, `{"status":"suspended"}`)
	s.Answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 400})
}

func TestAdministratorsOfTheParentActInASubTenantAndNoDeeper(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 3, false)
	one, id := subTenant(t, s, "One")
	other, _ := subTenant(t, s, "Two")
	s.Do(t, account.GrantMembership{User: paneltest.Ben, Tenant: 1, Role: account.Admin, At: time.Now()})
	for _, who := range []string{"ana", "ben"} {
		s.Answers(t, "POST", one+"activate/", "", map[string]int{who: 200})
		s.Answers(t, "GET", one, "", map[string]int{who: 200})
		s.Answers(t, "GET", other, "", map[string]int{who: 404})
		s.Answers(t, "PATCH", one, `{"city":"Cádiz"}`, map[string]int{who: 200})
		s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{who: 403}) // no deeper level
		s.Answers(t, "DELETE", one, "", map[string]int{who: 403})
		me := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known[who])...).Body.String()
		if !strings.Contains(me, fmt.Sprintf(`"active_tenant":%d,"active_tenant_name":"One"`, id)) {
			t.Error(me)
		}
		s.Answers(t, "GET", "/hosting/api/rest/sites/", "", map[string]int{who: 200})
	}
	s.Answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client-one.example"}`, map[string]int{"ana": 201})
	s.Answers(t, "POST", tenantsAPI+"1/activate/", "", map[string]int{"ana": 200})
	if got := s.Call("GET", "/hosting/api/rest/sites/", "",
		paneltest.Bearer(s.Known["ana"])...).Body.String(); !strings.HasPrefix(got, `{"count":0`) {
		t.Error("the parent shows what its sub-tenant has:", got)
	}

	// Who is no administrator of the parent any more acts in no sub-tenant either.
	s.Do(t, account.GrantMembership{User: paneltest.Ben, Tenant: 1, Role: account.Member, At: time.Now()})
	if me := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ben"])...).Body.String(); !strings.Contains(me,
		`"active_tenant":1,`) {
		t.Error(me)
	}
	s.Answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200, "ben": 404})
	s.Do(t, account.RevokeMembership{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	s.Answers(t, "GET", one, "", map[string]int{"ana": 404})
	s.Answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client-two.example"}`,
		map[string]int{"ana": 201}) // in tenant 2
	if n := s.Count(t, fmt.Sprint(`select count(*) from resources where kind = 'site' and tenant = `, id)); n != 1 {
		t.Errorf("%d sites in the sub-tenant", n)
	}
}

// The own administrator of a sub-tenant is an administrator of nothing else.
func TestAHostileAdministratorOfASubTenantReachesNothingElse(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 3, false)
	one, id := subTenant(t, s, "One")
	other, otherID := subTenant(t, s, "Two")
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: id, Role: account.Admin, At: time.Now()})
	s.Answers(t, "GET", one, "", map[string]int{"eve": 200})
	for _, path := range []string{other, paneltest.TenantOne} {
		s.Answers(t, "GET", path, "", map[string]int{"eve": 404})
		s.Answers(t, "PATCH", path, `{"name":"Mine"}`, map[string]int{"eve": 404})
		s.Answers(t, "PUT", path, newClient, map[string]int{"eve": 403})
		s.Answers(t, "DELETE", path, "", map[string]int{"eve": 403})
		s.Answers(t, "POST", path+"activate/", "", map[string]int{"eve": 404})
		s.Answers(t, "GET", path+"stats/", "", map[string]int{"eve": 404})
	}
	s.Answers(t, "POST", tenantsAPI, newClient, map[string]int{"eve": 403})
	s.Answers(t, "PATCH", "/api/me/", fmt.Sprintf(`{"active_tenant":%d}`, otherID), map[string]int{"eve": 400})
	s.Answers(t, "PATCH", "/api/me/", `{"active_tenant":1}`, map[string]int{"eve": 400})
	s.Answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	s.Answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"eve": 403}) // it is suspended
	s.Answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client.example"}`, map[string]int{"eve": 403})
	if found, err := s.For(projections.System).Hosting().Among(t.Context(), "tenant", []int64{id}); err != nil ||
		string(found[0].Spec["status"]) != `"suspended"` {
		t.Error(found, err)
	}
}

func TestSubTenantsHaveALookOfTheirOwnIfThePlanHasIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 3, false)
	one, _ := subTenant(t, s, "One")
	const looks = "/hosting/api/rest/whitelabel/"
	s.Answers(t, "POST", looks, `{"brand_name":"Bread Panel"}`, map[string]int{"ana": 201}) // of the tenant itself
	s.Answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200})
	if w := s.Call("POST", looks, `{"brand_name":"One Panel"}`, paneltest.Bearer(s.Known["ana"])...); w.Code != 403 ||
		w.Header().Get("X-Error-Code") != "not_in_plan" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	reseller(t, s, 3, true)
	s.Answers(t, "POST", looks, `{"brand_name":"One Panel"}`, map[string]int{"ana": 201})
}

// A sub-tenant that operators give to another parent is out of reach at once, also for an
// administrator who acts in it at that moment.
func TestASubTenantWithAnotherParentIsOutOfReach(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 3, false)
	one, id := subTenant(t, s, "Client")
	s.Answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200})
	var me struct {
		ActiveTenant *int64 `json:"active_tenant"`
	}
	for _, reach := range []bool{true, false} {
		paneltest.Decode(t, s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ana"])...), http.StatusOK, &me)
		if acts := me.ActiveTenant != nil && *me.ActiveTenant == id; acts != reach {
			t.Errorf("ana acts in it: %t, not %t", acts, reach)
		}
		if reach {
			s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: id}, Spec: field.Values{"parent": []byte("2")}})
			s.Answers(t, "POST", "/hosting/api/rest/sites/", `{}`, map[string]int{"ana": 403})
		}
	}
}
