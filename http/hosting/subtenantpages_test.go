package hosting_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

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
