package operations_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// An operator offers a plan, changes it, takes it off the shop and deletes it. What is
// wrong with a form stands beside its fields, and nothing is made of it.
func TestOperatorsOfferPlansInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	paneltest.Has(t, b.Get("/storefront/plans/?resource_type=vps&search=vps").Body.String(), "vps-m", "New VPS plan")
	if text := b.Get("/storefront/plans/?resource_type=vps").Body.String(); strings.Contains(text, "hosting-s<") {
		t.Error("plans of another sort are shown")
	}
	text := b.Get("/storefront/plans/new/?resource_type=vps").Body.String()
	paneltest.Has(t, text, "Processor cores", "Operating systems")
	if strings.Contains(text, "Mailboxes") {
		t.Error("a VPS plan has mailboxes")
	}
	before := s.Events(t, "storefront.plan_offered")
	paneltest.Refused(t, b.Send("create_plan", "name", "VPS XL", "price", "x", "vps_os_options", "debian-12\nubuntu-24",
		"vps_default_os", "plan9"), http.StatusBadRequest,
		"A valid number is required.", `value="VPS XL"`)
	path, sent := b.Fill("create_plan", "name", "VPS XL", "price", "19.90", "vps_cpu_cores", "8", "vps_os_options",
		"debian-12\r\nubuntu-24", "vps_default_os", "")
	twin := b.Twin()
	w := b.Do("POST", path, sent.Encode())
	made := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(made, "/storefront/plans/1") {
		t.Fatalf("%d %s %s", w.Code, made, w.Body)
	}
	paneltest.Goes(t, twin.Do("POST", path, sent.Encode()), "/storefront/plans/")
	if n := s.Events(t, "storefront.plan_offered"); n != before+1 {
		t.Errorf("%d plans were made", n-before)
	}
	paneltest.Has(t, b.Get(made).Body.String(), "The plan is on offer.", "VPS XL", "€19.90",
		"debian-12\nubuntu-24</textarea>", `value="8"`)
	paneltest.Goes(t, b.Send("change_plan", "price", "21.50", "is_active", "false", "vps_default_os", "ubuntu-24"), made)
	paneltest.Has(t, b.Get(made).Body.String(), "The plan is saved.", "€21.50", "not active")
	read := s.Operate("GET", "plans/"+strings.TrimPrefix(made, "/storefront/plans/"), "").Body.String()
	paneltest.Has(t, read, `"price":"21.50"`, `"is_active":false`, `"vps_cpu_cores":8`, `"vps_default_os":"ubuntu-24"`,
		`"slug":"vps-xl"`)
	paneltest.Goes(t, b.Send("withdraw_plan"), "/storefront/plans/")
	paneltest.Has(t, b.Get("/storefront/plans/").Body.String(), "The plan is deleted.")
	if w := b.Get(made); w.Code != http.StatusNotFound {
		t.Errorf("the plan is there: %d", w.Code)
	}
}

func TestAPlanThatWasOrderedIsNotDeletedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Order(t, http.StatusCreated, paneltest.HostingOrder)
	b := s.Browser(t).Enter(paneltest.OpMail)
	b.Get("/storefront/plans/1/")
	paneltest.Refused(t, b.Send("withdraw_plan"), http.StatusConflict, "The plan is in use.")
}
