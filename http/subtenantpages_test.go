package http_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
)

const subTenantPages = "/panel/sub-tenants/"

// numberIn is the number of the record that a page is about.
func numberIn(t *testing.T, page string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(strings.TrimSuffix(page[len(subTenantPages):], "/"), 10, 64)
	if err != nil {
		t.Fatal(page, err)
	}
	return id
}

// A reseller does all that the API lets them do with a sub-tenant, in the browser.
func TestAResellerRunsASubTenantInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.reseller(t, 3, false)
	b := s.visiting(t, ana)
	has(t, b.get("/panel/").Body.String(), `<a href="/panel/sub-tenants/">Sub-tenants</a>`, "0 of 3")
	has(t, b.get(subTenantPages).Body.String(), "In use: 0 of 3", "There are none yet.", subTenantPages+"new/")
	page := b.makes("sub-tenants", "name", "Client One", "email", "one@example.com", "language", "es")
	id := numberIn(t, page)
	if status := s.reasons(t, id); status != "active[]" {
		t.Error(status)
	}
	has(t, b.get(subTenantPages).Body.String(), "In use: 1 of 3", "Client One", "one@example.com", page, `badge active">In service`)

	b.get(page + "edit/")
	goes(t, b.send("panel_change", "name", "First Client", "city", "Cádiz"), page)
	text := b.get(page).Body.String()
	has(t, text, "It has been changed.", "First Client", "<dd>Cádiz</dd>", "<dt>Language</dt><dd>Español</dd>", "Usage against limits", fmt.Sprint("/panel/tenants/", id, "/export/"), "client-one")
	b.isForEverybody(t, "en", text)

	goes(t, b.send("suspend_tenant", "suspended_reason", "Did not pay us"), page)
	has(t, b.get(page).Body.String(), "The tenant is suspended.", `badge failed">Suspended`, "Did not pay us")
	if status := s.reasons(t, id); status != "suspended[]" {
		t.Error(status)
	}
	goes(t, b.send("resume_tenant"), page)
	has(t, b.get(page).Body.String(), "The tenant is in service again.", `badge active">In service`)

	goes(t, b.send(strconv.FormatInt(id, 10)), "/panel/")
	has(t, b.get("/panel/").Body.String(), "First Client", `<a href="/panel/tenants/">Change</a>`)
	if w := b.get(subTenantPages); w.Code != http.StatusForbidden {
		t.Errorf("a sub-tenant has sub-tenants: %d", w.Code)
	}
	b.get("/panel/tenants/")
	goes(t, b.send("1"), "/panel/")
	if w := b.get(fmt.Sprint("/panel/tenants/", id, "/export/")); w.Code != http.StatusOK {
		t.Errorf("no data export: %d", w.Code)
	}

	b.get(page)
	path, sent := b.fill("panel_remove")
	twin := b.twin()
	goes(t, b.do("POST", path, sent.Encode()), subTenantPages)
	goes(t, twin.do("POST", path, sent.Encode()), subTenantPages)
	if w := b.get(page); w.Code != http.StatusNotFound {
		t.Errorf("it is still there: %d", w.Code)
	}
	has(t, b.get(subTenantPages).Body.String(), "In use: 0 of 3")
	if status := s.reasons(t, id); status != "terminated[]" {
		t.Error(status)
	}
}

// The limit is told before and at the form, in the language of the reader.
func TestAResellerIsToldTheLimitInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.reseller(t, 1, false)
	s.do(t, speaks(ana, "es"))
	b := s.visiting(t, ana)
	b.makes("sub-tenants", "name", "One", "email", "one@example.com")
	text := b.get(subTenantPages).Body.String()
	has(t, text, "En uso: 1 de 1")
	b.isForEverybody(t, "es", text)
	b.isForEverybody(t, "es", b.get(subTenantPages+"new/").Body.String())
	w := b.send("panel_create", "name", "Two", "email", "two@example.com")
	refused(t, w, http.StatusBadRequest, "Ha alcanzado el límite de suborganizaciones (1 de 1).")
	b.isForEverybody(t, "es", w.Body.String())
	b.get(subTenantPages + "new/")
	refused(t, b.send("panel_create", "name", "Two", "email", "no address"), http.StatusBadRequest, `id="panel_create-email-wrong"`)
	if n := s.count(t, `select count(*) from resources where kind = 'tenant' and parent = 1`); n != 1 {
		t.Errorf("%d sub-tenants", n)
	}
}

// The form offers the default package and that of the parent; what operators alone set
// is not asked for, and an operator's suspension stays.
func TestAResellerChoosesAmongTheAllowedPackagesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.reseller(t, 5, false)
	root := bearer(s.known["root"])
	b := s.visiting(t, ana)
	bare := b.makes("sub-tenants", "name", "Bare", "email", "bare@example.com")
	b.get(bare + "edit/")
	goes(t, b.send("panel_change", "city", "Vigo"), bare) // there is no package to choose
	usual := numberOf(t, s.call("POST", "/hosting/api/rest/packages/", `{"name":"Usual","max_sites":2,"is_default":true}`, root...))
	large := numberOf(t, s.call("POST", "/hosting/api/rest/packages/", `{"name":"Large"}`, root...))
	text := b.get(subTenantPages + "new/").Body.String()
	has(t, text, fmt.Sprintf(`<option value="%d"`, usual))
	for _, other := range []string{"Large", `name="username"`, `name="parent"`, `name="status"`, `name="is_active"`} {
		if strings.Contains(text, other) {
			t.Errorf("the form has %s", other)
		}
	}
	page := b.makes("sub-tenants", "name", "One", "email", "one@example.com")
	has(t, b.get(page).Body.String(), "Usual", "0 of 2")
	has(t, b.get(subTenantPages).Body.String(), "one@example.com · Usual · Sites: 0 of 2")
	b.get(page + "edit/")
	refused(t, b.send("panel_change", "package", strconv.FormatInt(large, 10)), http.StatusBadRequest, "does not exist")
	b.get(bare + "edit/")
	goes(t, b.send("panel_change", "city", "Lugo"), bare) // it stays without a package
	b.get(bare + "edit/")
	goes(t, b.send("panel_change", "package", strconv.FormatInt(usual, 10)), bare)
	has(t, b.get(bare).Body.String(), "Usual")

	s.patched(t, fmt.Sprint(tenantsAPI, numberIn(t, page), "/"), `{"status":"suspended"}`)
	b.get(page)
	refused(t, b.send("resume_tenant"), http.StatusBadRequest, "An operator has suspended this tenant.")
}

// Members, administrators of other tenants and those of a sub-tenant reach none of it.
func TestStrangersHaveNoPagesOfSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	if w := s.visiting(t, ana).get(subTenantPages); w.Code != http.StatusForbidden {
		t.Errorf("without a SaaS service: %d", w.Code)
	}
	has(t, s.visiting(t, ana).get("/panel/").Body.String(), "Webhooks")
	if text := s.visiting(t, ana).get("/panel/").Body.String(); strings.Contains(text, subTenantPages) {
		t.Error("the start leads to pages that are not there")
	}
	s.reseller(t, 3, false)
	_, id := s.subTenant(t, "One")
	_, other := s.subTenant(t, "Two")
	s.person(t, 90, "carl@example.com", false)
	s.do(t, account.GrantMembership{User: 90, Tenant: id, Role: account.Admin, At: time.Now()})
	s.do(t, account.GrantMembership{User: eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	saas := hosting.SaaSLimits{MaxHostingAccounts: 5}
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 3}, Spec: saas.Fields().Values()})
	for who, want := range map[int64][2]int{
		ben: {403, 403}, // a member of the parent
		90:  {403, 403}, // administers the sub-tenant
		eve: {200, 404}, // administers another reseller
	} {
		b := s.visiting(t, who)
		token := s.tokenOf(t, b)
		if w := b.get(subTenantPages); w.Code != want[0] || strings.Contains(w.Body.String(), "One") || strings.Contains(w.Body.String(), "Two") {
			t.Errorf("the list for %d: %d %s", who, w.Code, w.Body)
		}
		for _, of := range []int64{id, other, 1, 2} {
			page := fmt.Sprint(subTenantPages, of, "/")
			for path, forms := range map[string][]string{page: {"", "panel_remove", "suspend_tenant", "resume_tenant"}, page + "edit/": {"", "panel_change"}} {
				for _, form := range forms {
					method, body := "GET", ""
					if form != "" {
						method, body = "POST", "form="+form+"&number=x&name=Mine&form_token="+token
					}
					if w := b.do(method, path, body); w.Code != want[1] {
						t.Errorf("%s %s %s as %d: %d", method, path, form, who, w.Code)
					}
				}
			}
		}
		if w := b.get(subTenantPages + "new/"); w.Code != want[0] {
			t.Errorf("the form for %d: %d", who, w.Code)
		}
	}
	b := s.visiting(t, ana)
	for _, of := range []int64{1, 2, 3} { // their own, one of which they are a member, and another
		if w := b.get(fmt.Sprint(subTenantPages, of, "/")); w.Code != http.StatusNotFound {
			t.Errorf("%d is shown as a sub-tenant: %d", of, w.Code)
		}
	}
	if got := s.reasons(t, id) + s.reasons(t, other); got != "active[]active[]" {
		t.Error(got)
	}
}

// Operators who act for a reseller use the same pages.
func TestAnOperatorWhoActsForAResellerSeesItsSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.reseller(t, 1, false)
	_, id := s.subTenant(t, "One")
	b := s.visiting(t, root)
	goes(t, b.get(subTenantPages), "/panel/tenants/")
	goes(t, b.get(fmt.Sprint(subTenantPages, id, "/")), "/panel/tenants/")
	b.get("/panel/tenants/")
	goes(t, b.send("1"), "/panel/")
	text := b.get(subTenantPages).Body.String()
	has(t, text, "In use: 1 of 1", "One")
	if strings.Contains(text, "Cheese") {
		t.Error("the list shows other tenants")
	}
	page := b.makes("sub-tenants", "name", "Two", "email", "two@example.com") // without the limit
	has(t, b.get(page).Body.String(), "Two", `badge active">In service`)
	if status := s.reasons(t, numberIn(t, page)); status != "active[]" {
		t.Error(status)
	}
	b.get(page)
	goes(t, b.send("suspend_tenant"), page)
}

// Who belongs to the parent alone comes back from a sub-tenant by the same link.
func TestAResellerComesBackFromASubTenant(t *testing.T) {
	t.Parallel()
	s := running(t)
	s.reseller(t, 3, false)
	_, id := s.subTenant(t, "One")
	s.do(t, account.GrantMembership{User: ben, Tenant: 1, Role: account.Admin, At: time.Now()})
	b := s.visiting(t, ben)
	const change = `<a href="/panel/tenants/">Change</a>`
	if strings.Contains(b.get("/panel/").Body.String(), change) {
		t.Error("there is a choice of one tenant")
	}
	b.get(fmt.Sprint(subTenantPages, id, "/"))
	goes(t, b.send(strconv.FormatInt(id, 10)), "/panel/")
	has(t, b.get("/panel/").Body.String(), change, "One")
	b.get("/panel/tenants/")
	goes(t, b.send("1"), "/panel/")
	has(t, b.get(subTenantPages).Body.String(), "One")
}
