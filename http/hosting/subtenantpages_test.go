package hosting_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// numberIn is the number of the record that a page is about.
func numberIn(t *testing.T, page string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(strings.TrimSuffix(page[len(paneltest.SubTenantPages):], "/"), 10, 64)
	if err != nil {
		t.Fatal(page, err)
	}
	return id
}

// A reseller does all that the API lets them do with a sub-tenant, in the browser.
func TestAResellerRunsASubTenantInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 3, false)
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get("/panel/").Body.String(), `<a href="/panel/sub-tenants/">Sub-tenants</a>`, "0 of 3")
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "In use: 0 of 3", "There are none yet.",
		paneltest.SubTenantPages+"new/")
	page := b.Makes("sub-tenants", "name", "Client One", "email", "one@example.com", "language", "es")
	id := numberIn(t, page)
	if status := reasons(t, s, id); status != "active[]" {
		t.Error(status)
	}
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "In use: 1 of 3", "Client One", "one@example.com",
		page, `badge active">In service`)

	b.Get(page + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "name", "First Client", "city", "Cádiz"), page)
	text := b.Get(page).Body.String()
	paneltest.Has(t, text, "It has been changed.", "First Client", "<dd>Cádiz</dd>", "<dt>Language</dt><dd>Español</dd>",
		"Usage against limits", fmt.Sprint("/panel/tenants/", id, "/export/"), "client-one")
	b.IsForEverybody(t, "en", text)

	paneltest.Goes(t, b.Send("suspend_tenant", "suspended_reason", "Did not pay us"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The tenant is suspended.", `badge failed">Suspended`, "Did not pay us")
	if status := reasons(t, s, id); status != "suspended[]" {
		t.Error(status)
	}
	paneltest.Goes(t, b.Send("resume_tenant"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The tenant is in service again.", `badge active">In service`)

	paneltest.Goes(t, b.Send(strconv.FormatInt(id, 10)), "/panel/")
	paneltest.Has(t, b.Get("/panel/").Body.String(), "First Client", `<a href="/panel/tenants/">Change</a>`)
	if w := b.Get(paneltest.SubTenantPages); w.Code != http.StatusForbidden {
		t.Errorf("a sub-tenant has sub-tenants: %d", w.Code)
	}
	b.Get("/panel/tenants/")
	paneltest.Goes(t, b.Send("1"), "/panel/")
	if w := b.Get(fmt.Sprint("/panel/tenants/", id, "/export/")); w.Code != http.StatusOK {
		t.Errorf("no data export: %d", w.Code)
	}

	b.Get(page)
	path, sent := b.Fill("panel_remove")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), paneltest.SubTenantPages)
	paneltest.Goes(t, twin.Do("POST", path, sent.Encode()), paneltest.SubTenantPages)
	if w := b.Get(page); w.Code != http.StatusNotFound {
		t.Errorf("it is still there: %d", w.Code)
	}
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "In use: 0 of 3")
	if status := reasons(t, s, id); status != "terminated[]" {
		t.Error(status)
	}
}

// The limit is told before and at the form, in the language of the reader.
func TestAResellerIsToldTheLimitInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 1, false)
	s.Do(t, paneltest.Speaks(paneltest.Ana, "es"))
	b := s.Visiting(t, paneltest.Ana)
	b.Makes("sub-tenants", "name", "One", "email", "one@example.com")
	text := b.Get(paneltest.SubTenantPages).Body.String()
	paneltest.Has(t, text, "En uso: 1 de 1")
	b.IsForEverybody(t, "es", text)
	b.IsForEverybody(t, "es", b.Get(paneltest.SubTenantPages+"new/").Body.String())
	w := b.Send("panel_create", "name", "Two", "email", "two@example.com")
	paneltest.Refused(t, w, http.StatusBadRequest, "Ha alcanzado el límite de suborganizaciones (1 de 1).")
	b.IsForEverybody(t, "es", w.Body.String())
	b.Get(paneltest.SubTenantPages + "new/")
	paneltest.Refused(t, b.Send("panel_create", "name", "Two", "email", "no address"), http.StatusBadRequest,
		`id="panel_create-email-wrong"`)
	if n := s.Count(t, `select count(*) from resources where kind = 'tenant' and parent = 1`); n != 1 {
		t.Errorf("%d sub-tenants", n)
	}
}

// The form offers the default package and that of the parent; what operators alone set
// is not asked for, and an operator's suspension stays.
func TestAResellerChoosesAmongTheAllowedPackagesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 5, false)
	root := paneltest.Bearer(s.Known["root"])
	b := s.Visiting(t, paneltest.Ana)
	bare := b.Makes("sub-tenants", "name", "Bare", "email", "bare@example.com")
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "city", "Vigo"), bare) // there is no package to choose
	usual := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Usual","max_sites":2,"is_default":true}`,
		root...))
	large := numberOf(t, s.Call("POST", "/hosting/api/rest/packages/", `{"name":"Large"}`, root...))
	text := b.Get(paneltest.SubTenantPages + "new/").Body.String()
	paneltest.Has(t, text, fmt.Sprintf(`<option value="%d"`, usual))
	for _, other := range []string{"Large", `name="username"`, `name="parent"`, `name="status"`, `name="is_active"`} {
		if strings.Contains(text, other) {
			t.Errorf("the form has %s", other)
		}
	}
	page := b.Makes("sub-tenants", "name", "One", "email", "one@example.com")
	paneltest.Has(t, b.Get(page).Body.String(), "Usual", "0 of 2")
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "one@example.com · Usual · Sites: 0 of 2")
	b.Get(page + "edit/")
	paneltest.Refused(t, b.Send("panel_change", "package", strconv.FormatInt(large, 10)), http.StatusBadRequest,
		"does not exist")
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "city", "Lugo"), bare) // it stays without a package
	b.Get(bare + "edit/")
	paneltest.Goes(t, b.Send("panel_change", "package", strconv.FormatInt(usual, 10)), bare)
	paneltest.Has(t, b.Get(bare).Body.String(), "Usual")

	patched(t, s, fmt.Sprint(tenantsAPI, numberIn(t, page), "/"), `{"status":"suspended"}`)
	b.Get(page)
	paneltest.Refused(t, b.Send("resume_tenant"), http.StatusBadRequest, "An operator has suspended this tenant.")
}

// Members, administrators of other tenants and those of a sub-tenant reach none of it.
func TestStrangersHaveNoPagesOfSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	if w := s.Visiting(t, paneltest.Ana).Get(paneltest.SubTenantPages); w.Code != http.StatusForbidden {
		t.Errorf("without a SaaS service: %d", w.Code)
	}
	paneltest.Has(t, s.Visiting(t, paneltest.Ana).Get("/panel/").Body.String(), "Webhooks")
	if text := s.Visiting(t, paneltest.Ana).Get("/panel/").Body.String(); strings.Contains(text,
		paneltest.SubTenantPages) {
		t.Error("the start leads to pages that are not there")
	}
	reseller(t, s, 3, false)
	_, id := subTenant(t, s, "One")
	_, other := subTenant(t, s, "Two")
	s.Person(t, 90, "carl@example.com", false)
	s.Do(t, account.GrantMembership{User: 90, Tenant: id, Role: account.Admin, At: time.Now()})
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	saas := hosting.SaaSLimits{MaxHostingAccounts: 5}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 3}, Spec: saas.Fields().Values()})
	for who, want := range map[int64][2]int{
		paneltest.Ben: {403, 403}, // a member of the parent
		90:            {403, 403}, // administers the sub-tenant
		paneltest.Eve: {200, 404}, // administers another reseller
	} {
		b := s.Visiting(t, who)
		token := tokenOf(t, s, b)
		if w := b.Get(paneltest.SubTenantPages); w.Code != want[0] || strings.Contains(w.Body.String(), "One") ||
			strings.Contains(w.Body.String(), "Two") {
			t.Errorf("the list for %d: %d %s", who, w.Code, w.Body)
		}
		for _, of := range []int64{id, other, 1, 2} {
			page := fmt.Sprint(paneltest.SubTenantPages, of, "/")
			for path, forms := range map[string][]string{
				page:           {"", "panel_remove", "suspend_tenant", "resume_tenant"},
				page + "edit/": {"", "panel_change"},
			} {
				for _, form := range forms {
					method, body := "GET", ""
					if form != "" {
						method, body = "POST", "form="+form+"&number=x&name=Mine&form_token="+token
					}
					if w := b.Do(method, path, body); w.Code != want[1] {
						t.Errorf("%s %s %s as %d: %d", method, path, form, who, w.Code)
					}
				}
			}
		}
		if w := b.Get(paneltest.SubTenantPages + "new/"); w.Code != want[0] {
			t.Errorf("the form for %d: %d", who, w.Code)
		}
	}
	b := s.Visiting(t, paneltest.Ana)
	for _, of := range []int64{1, 2, 3} { // their own, one of which they are a member, and another
		if w := b.Get(fmt.Sprint(paneltest.SubTenantPages, of, "/")); w.Code != http.StatusNotFound {
			t.Errorf("%d is shown as a sub-tenant: %d", of, w.Code)
		}
	}
	if got := reasons(t, s, id) + reasons(t, s, other); got != "active[]active[]" {
		t.Error(got)
	}
}

// Operators who act for a reseller use the same pages.
func TestAnOperatorWhoActsForAResellerSeesItsSubTenants(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 1, false)
	_, id := subTenant(t, s, "One")
	b := s.Visiting(t, paneltest.Root)
	paneltest.Goes(t, b.Get(paneltest.SubTenantPages), "/panel/tenants/")
	paneltest.Goes(t, b.Get(fmt.Sprint(paneltest.SubTenantPages, id, "/")), "/panel/tenants/")
	b.Get("/panel/tenants/")
	paneltest.Goes(t, b.Send("1"), "/panel/")
	text := b.Get(paneltest.SubTenantPages).Body.String()
	paneltest.Has(t, text, "In use: 1 of 1", "One")
	if strings.Contains(text, "Cheese") {
		t.Error("the list shows other tenants")
	}
	page := b.Makes("sub-tenants", "name", "Two", "email", "two@example.com") // without the limit
	paneltest.Has(t, b.Get(page).Body.String(), "Two", `badge active">In service`)
	if status := reasons(t, s, numberIn(t, page)); status != "active[]" {
		t.Error(status)
	}
	b.Get(page)
	paneltest.Goes(t, b.Send("suspend_tenant"), page)
}

// Who belongs to the parent alone comes back from a sub-tenant by the same link.
func TestAResellerComesBackFromASubTenant(t *testing.T) {
	t.Parallel()
	s := running(t)
	reseller(t, s, 3, false)
	_, id := subTenant(t, s, "One")
	s.Do(t, account.GrantMembership{User: paneltest.Ben, Tenant: 1, Role: account.Admin, At: time.Now()})
	b := s.Visiting(t, paneltest.Ben)
	const change = `<a href="/panel/tenants/">Change</a>`
	if strings.Contains(b.Get("/panel/").Body.String(), change) {
		t.Error("there is a choice of one tenant")
	}
	b.Get(fmt.Sprint(paneltest.SubTenantPages, id, "/"))
	paneltest.Goes(t, b.Send(strconv.FormatInt(id, 10)), "/panel/")
	paneltest.Has(t, b.Get("/panel/").Body.String(), change, "One")
	b.Get("/panel/tenants/")
	paneltest.Goes(t, b.Send("1"), "/panel/")
	paneltest.Has(t, b.Get(paneltest.SubTenantPages).Body.String(), "One")
}
