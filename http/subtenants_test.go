package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

const (
	tenantsAPI = "/hosting/api/rest/tenants/"
	newClient  = `{"name":"Client","email":"client@example.com"}`
)

// reseller gives tenant 1, of which ana is an administrator and ben a member, a SaaS
// service with room for so many sub-tenants.
func (s *shop) reseller(t *testing.T, accounts int64, whiteLabel bool) {
	t.Helper()
	saas := hosting.SaaSLimits{MaxVMs: 7, MaxHostingAccounts: accounts, MaxAgents: 2, WhiteLabel: whiteLabel}
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: saas.Fields().Values()})
	s.pastPeople(t)
}

// pastPeople draws the numbers that the tenants of [shop.people] have without drawing them.
func (s *shop) pastPeople(t *testing.T) {
	t.Helper()
	for id := int64(0); id < 10; {
		ids, err := s.NextIDs(t.Context(), "tenant")
		if err != nil {
			t.Fatal(err)
		}
		id = ids[0]
	}
}

// subTenant makes a sub-tenant of tenant 1.
func (s *shop) subTenant(t *testing.T, name string) (path string, id int64) {
	t.Helper()
	w := s.call("POST", tenantsAPI, `{"name":"`+name+`","email":"client@example.com"}`, bearer(s.known["ana"])...)
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

// answers calls as several people, and compares the status codes.
func (s *shop) answers(t *testing.T, method, path, body string, want map[string]int) {
	t.Helper()
	for who, status := range want {
		if w := s.call(method, path, body, bearer(s.known[who])...); w.Code != status {
			t.Errorf("%s %s %s as %s: %d, not %d: %s", method, path, body, who, w.Code, status, w.Body)
		}
	}
}

func TestAResellerManagesSubTenantsAndNobodyElseDoes(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.person(t, 90, "carl@example.com", false)
	s.do(t, account.GrantMembership{User: 90, Tenant: 3, Role: account.Admin, At: time.Now()})
	s.known["carl"] = s.token(t, 90, nil)
	s.answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 403, "ben": 403, "carl": 403}) // there is no SaaS service yet
	s.reseller(t, 3, false)
	one, id := s.subTenant(t, "One")

	w := s.call("GET", one, "", bearer(s.known["ana"])...)
	if got := w.Body.String(); w.Code != 200 || !strings.Contains(got, `"parent":1`) || !strings.Contains(got, fmt.Sprintf(`"username":"t%d"`, id)) {
		t.Errorf("%d %s", w.Code, got)
	}
	s.answers(t, "GET", one, "", map[string]int{"ana": 200, "ben": 404, "carl": 404, "root": 200})
	s.answers(t, "PATCH", one, `{"name":"First"}`, map[string]int{"ana": 200, "ben": 403, "carl": 404})
	s.answers(t, "PUT", one, newClient, map[string]int{"ana": 200, "ben": 403, "carl": 403})
	s.answers(t, "DELETE", one, "", map[string]int{"ben": 403, "carl": 403})
	s.answers(t, "POST", one+"activate/", "", map[string]int{"ben": 404, "carl": 404})
	s.answers(t, "GET", one+"stats/", "", map[string]int{"ana": 200, "ben": 404, "carl": 404})

	for who, want := range map[string]int64{"ana": 3, "ben": 1, "carl": 1, "root": 4} { // two memberships and a sub-tenant
		if got := answered[tenantPage](t, s.call("GET", tenantsAPI, "", bearer(s.known[who])...)); int64(got.Count) != want {
			t.Errorf("%s sees %d tenants, not %d", who, got.Count, want)
		}
	}
	s.answers(t, "DELETE", tenantsAPI+"1/", "", map[string]int{"ana": 403}) // their own
	s.answers(t, "DELETE", tenantsAPI+"2/", "", map[string]int{"ana": 403}) // of which they are a member
	s.answers(t, "DELETE", tenantsAPI+"3/", "", map[string]int{"ana": 404})
	s.answers(t, "DELETE", one, "", map[string]int{"ana": 204})
	s.answers(t, "GET", one, "", map[string]int{"ana": 404})
}

func TestAResellerSetsNothingThatOnlyOperatorsSet(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.reseller(t, 5, false)
	root := bearer(s.known["root"])
	usual := numberOf(t, s.call("POST", "/hosting/api/rest/packages/", `{"name":"Usual","max_sites":1,"is_default":true}`, root...))
	large := numberOf(t, s.call("POST", "/hosting/api/rest/packages/", `{"name":"Large"}`, root...))
	make := func(fields string) (int, string) {
		w := s.call("POST", tenantsAPI, `{"name":"Client","email":"client@example.com",`+fields+`}`, bearer(s.known["ana"])...)
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
	status, body := make(fmt.Sprintf(`"parent":1,"package":%d,"username":"root","hosting_client_id":4711,"customer_number":"t1","is_active":false,"saas_max_hosting_accounts":100,"max_sites":-1`, usual))
	var made struct {
		ID, Package     int64
		Username        string
		IsActive        bool   `json:"is_active"`
		HostingClientID *int64 `json:"hosting_client_id"`
		CustomerNumber  string `json:"customer_number"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 201 || made.Package != usual || made.Username == "root" || !made.IsActive ||
		made.HostingClientID != nil && *made.HostingClientID == 4711 || made.CustomerNumber == "t1" {
		t.Fatal(status, body, err)
	}
	one := fmt.Sprint(tenantsAPI, made.ID, "/")
	w := s.call("PATCH", one, fmt.Sprintf(`{"package":%d}`, large), bearer(s.known["ana"])...)
	if w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}

	// An operator's word counts for more than the reseller's.
	s.patched(t, one, `{"status":"suspended","suspended_reason":"Spam"}`)
	s.answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 400})
	s.patched(t, one, `{"status":"active"}`)
	s.answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	s.answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 200})
	s.answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	s.patched(t, one, `{"status":"suspended"}`)
	s.answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"ana": 400})
}

func TestAdministratorsOfTheParentActInASubTenantAndNoDeeper(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.reseller(t, 3, false)
	one, id := s.subTenant(t, "One")
	other, _ := s.subTenant(t, "Two")
	s.do(t, account.GrantMembership{User: ben, Tenant: 1, Role: account.Admin, At: time.Now()})
	for _, who := range []string{"ana", "ben"} {
		s.answers(t, "POST", one+"activate/", "", map[string]int{who: 200})
		s.answers(t, "GET", one, "", map[string]int{who: 200})
		s.answers(t, "GET", other, "", map[string]int{who: 404})
		s.answers(t, "PATCH", one, `{"city":"Cádiz"}`, map[string]int{who: 200})
		s.answers(t, "POST", tenantsAPI, newClient, map[string]int{who: 403}) // no deeper level
		s.answers(t, "DELETE", one, "", map[string]int{who: 403})
		me := s.call("GET", "/api/me/", "", bearer(s.known[who])...).Body.String()
		if !strings.Contains(me, fmt.Sprintf(`"active_tenant":%d,"active_tenant_name":"One"`, id)) {
			t.Error(me)
		}
		s.answers(t, "GET", "/hosting/api/rest/sites/", "", map[string]int{who: 200})
	}
	s.answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client-one.example"}`, map[string]int{"ana": 201})
	s.answers(t, "POST", tenantsAPI+"1/activate/", "", map[string]int{"ana": 200})
	if got := s.call("GET", "/hosting/api/rest/sites/", "", bearer(s.known["ana"])...).Body.String(); !strings.HasPrefix(got, `{"count":0`) {
		t.Error("the parent shows what its sub-tenant has:", got)
	}

	// Who is no administrator of the parent any more acts in no sub-tenant either.
	s.do(t, account.GrantMembership{User: ben, Tenant: 1, Role: account.Member, At: time.Now()})
	if me := s.call("GET", "/api/me/", "", bearer(s.known["ben"])...).Body.String(); !strings.Contains(me, `"active_tenant":1,`) {
		t.Error(me)
	}
	s.answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200, "ben": 404})
	s.do(t, account.RevokeMembership{User: ana, Tenant: 1, At: time.Now()})
	s.answers(t, "GET", one, "", map[string]int{"ana": 404})
	s.answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client-two.example"}`, map[string]int{"ana": 201}) // in tenant 2
	if n := s.count(t, fmt.Sprint(`select count(*) from resources where kind = 'site' and tenant = `, id)); n != 1 {
		t.Errorf("%d sites in the sub-tenant", n)
	}
}

// The own administrator of a sub-tenant is an administrator of nothing else.
func TestAHostileAdministratorOfASubTenantReachesNothingElse(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.reseller(t, 3, false)
	one, id := s.subTenant(t, "One")
	other, otherID := s.subTenant(t, "Two")
	s.do(t, account.GrantMembership{User: eve, Tenant: id, Role: account.Admin, At: time.Now()})
	s.answers(t, "GET", one, "", map[string]int{"eve": 200})
	for _, path := range []string{other, tenantOne} {
		s.answers(t, "GET", path, "", map[string]int{"eve": 404})
		s.answers(t, "PATCH", path, `{"name":"Mine"}`, map[string]int{"eve": 404})
		s.answers(t, "PUT", path, newClient, map[string]int{"eve": 403})
		s.answers(t, "DELETE", path, "", map[string]int{"eve": 403})
		s.answers(t, "POST", path+"activate/", "", map[string]int{"eve": 404})
		s.answers(t, "GET", path+"stats/", "", map[string]int{"eve": 404})
	}
	s.answers(t, "POST", tenantsAPI, newClient, map[string]int{"eve": 403})
	s.answers(t, "PATCH", "/api/me/", fmt.Sprintf(`{"active_tenant":%d}`, otherID), map[string]int{"eve": 400})
	s.answers(t, "PATCH", "/api/me/", `{"active_tenant":1}`, map[string]int{"eve": 400})
	s.answers(t, "PATCH", one, `{"status":"suspended"}`, map[string]int{"ana": 200})
	s.answers(t, "PATCH", one, `{"status":"active"}`, map[string]int{"eve": 403}) // it is suspended
	s.answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"client.example"}`, map[string]int{"eve": 403})
	if found, err := s.For(projections.System).Among(t.Context(), "tenant", []int64{id}); err != nil || string(found[0].Spec["status"]) != `"suspended"` {
		t.Error(found, err)
	}
}

func TestAHundredRequestsAtOnceMakeNoSubTenantTooMany(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	const room, requests = 7, 100
	s.reseller(t, room, false)
	var made, full atomic.Int64
	var all errgroup.Group
	for i := range requests {
		all.Go(func() error {
			for {
				w := s.call("POST", tenantsAPI, fmt.Sprintf(`{"name":"Client %d","email":"client@example.com"}`, i), bearer(s.known["ana"])...)
				switch w.Code {
				case http.StatusCreated:
					made.Add(1)
				case http.StatusBadRequest:
					if want := `{"non_field_errors":["Limit reached: hosting_accounts (7 of 7)."]}`; w.Body.String() != want || w.Header().Get("X-Error-Code") != "quota_exceeded" {
						return fmt.Errorf("%s", w.Body)
					}
					full.Add(1)
				case http.StatusConflict, http.StatusTooManyRequests, http.StatusServiceUnavailable:
					time.Sleep(10 * time.Millisecond)
					continue
				default:
					return fmt.Errorf("%d %s", w.Code, w.Body)
				}
				return nil
			}
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if there := s.count(t, `select count(*) from resources where kind = 'tenant' and parent = 1`); made.Load() != room || there != room || full.Load() != requests-room {
		t.Errorf("%d made, %d there, %d refused", made.Load(), there, full.Load())
	}
	stats := answered[map[string]json.RawMessage](t, s.call("GET", tenantOne+"stats/", "", bearer(s.known["ana"])...))
	got := fmt.Sprintf("%s %s %s", stats["hosting_accounts"], stats["vms"], stats["agents"])
	if got != `{"used":7,"limit":7} {"used":0,"limit":7} {"used":0,"limit":2}` {
		t.Error(got)
	}
	// Who removes one may make another; operators are not limited.
	page := answered[tenantPage](t, s.call("GET", tenantsAPI+"?search=client", "", bearer(s.known["ana"])...))
	s.answers(t, "DELETE", fmt.Sprint(tenantsAPI, page.Results[0].ID, "/"), "", map[string]int{"ana": 204})
	s.answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 201})
	s.answers(t, "POST", tenantsAPI, newClient, map[string]int{"ana": 400})
	s.answers(t, "POST", tenantsAPI, `{"name":"Client","email":"client@example.com","parent":1}`, map[string]int{"root": 201})
}

func TestSubTenantsHaveALookOfTheirOwnIfThePlanHasIt(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.reseller(t, 3, false)
	one, _ := s.subTenant(t, "One")
	const looks = "/hosting/api/rest/whitelabel/"
	s.answers(t, "POST", looks, `{"brand_name":"Bread Panel"}`, map[string]int{"ana": 201}) // of the tenant itself
	s.answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200})
	if w := s.call("POST", looks, `{"brand_name":"One Panel"}`, bearer(s.known["ana"])...); w.Code != 403 || w.Header().Get("X-Error-Code") != "not_in_plan" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	s.reseller(t, 3, true)
	s.answers(t, "POST", looks, `{"brand_name":"One Panel"}`, map[string]int{"ana": 201})
}

// A sub-tenant that operators give to another parent is out of reach at once, also for an
// administrator who acts in it at that moment.
func TestASubTenantWithAnotherParentIsOutOfReach(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.reseller(t, 3, false)
	one, id := s.subTenant(t, "Client")
	s.answers(t, "POST", one+"activate/", "", map[string]int{"ana": 200})
	var me struct {
		ActiveTenant *int64 `json:"active_tenant"`
	}
	for _, reach := range []bool{true, false} {
		decode(t, s.call("GET", "/api/me/", "", bearer(s.known["ana"])...), http.StatusOK, &me)
		if acts := me.ActiveTenant != nil && *me.ActiveTenant == id; acts != reach {
			t.Errorf("ana acts in it: %t, not %t", acts, reach)
		}
		if reach {
			s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: id}, Spec: field.Values{"parent": []byte("2")}})
			s.answers(t, "POST", "/hosting/api/rest/sites/", `{}`, map[string]int{"ana": 403})
		}
	}
}
