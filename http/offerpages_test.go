package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// An operator offers a plan, changes it, takes it off the shop and deletes it. What is
// wrong with a form stands beside its fields, and nothing is made of it.
func TestOperatorsOfferPlansInTheBrowser(t *testing.T) {
	t.Parallel()
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	has(t, b.get("/storefront/plans/?resource_type=vps&search=vps").Body.String(), "vps-m", "New VPS plan")
	if text := b.get("/storefront/plans/?resource_type=vps").Body.String(); strings.Contains(text, "hosting-s<") {
		t.Error("plans of another sort are shown")
	}
	text := b.get("/storefront/plans/new/?resource_type=vps").Body.String()
	has(t, text, "Processor cores", "Operating systems")
	if strings.Contains(text, "Mailboxes") {
		t.Error("a VPS plan has mailboxes")
	}
	before := s.events(t, "storefront.plan_offered")
	refused(t, b.send("create_plan", "name", "VPS XL", "price", "x", "vps_os_options", "debian-12\nubuntu-24", "vps_default_os", "plan9"), http.StatusBadRequest,
		"A valid number is required.", `value="VPS XL"`)
	path, sent := b.fill("create_plan", "name", "VPS XL", "price", "19.90", "vps_cpu_cores", "8", "vps_os_options", "debian-12\r\nubuntu-24", "vps_default_os", "")
	twin := b.twin()
	w := b.do("POST", path, sent.Encode())
	made := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(made, "/storefront/plans/1") {
		t.Fatalf("%d %s %s", w.Code, made, w.Body)
	}
	goes(t, twin.do("POST", path, sent.Encode()), "/storefront/plans/")
	if n := s.events(t, "storefront.plan_offered"); n != before+1 {
		t.Errorf("%d plans were made", n-before)
	}
	has(t, b.get(made).Body.String(), "The plan is on offer.", "VPS XL", "€19.90", "debian-12\nubuntu-24</textarea>", `value="8"`)
	goes(t, b.send("change_plan", "price", "21.50", "is_active", "false", "vps_default_os", "ubuntu-24"), made)
	has(t, b.get(made).Body.String(), "The plan is saved.", "€21.50", "not active")
	read := s.operate("GET", "plans/"+strings.TrimPrefix(made, "/storefront/plans/"), "").Body.String()
	has(t, read, `"price":"21.50"`, `"is_active":false`, `"vps_cpu_cores":8`, `"vps_default_os":"ubuntu-24"`, `"slug":"vps-xl"`)
	goes(t, b.send("withdraw_plan"), "/storefront/plans/")
	has(t, b.get("/storefront/plans/").Body.String(), "The plan is deleted.")
	if w := b.get(made); w.Code != http.StatusNotFound {
		t.Errorf("the plan is there: %d", w.Code)
	}
}

func TestAPlanThatWasOrderedIsNotDeletedInTheBrowser(t *testing.T) {
	t.Parallel()
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	s.order(t, http.StatusCreated, aHostingOrder)
	b := s.browser(t).enter(opMail)
	b.get("/storefront/plans/1/")
	refused(t, b.send("withdraw_plan"), http.StatusConflict, "The plan is in use.")
}

// An operator makes an order form and sees what it looks like, and the lines that a
// website needs.
func TestOperatorsMakeOrderFormsInTheBrowser(t *testing.T) {
	t.Parallel()
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	has(t, b.get("/storefront/widgets/new/").Body.String(), `value="#4F46E5"`, "Plans and their numbers", `href="/storefront/plans/1/"`)
	refused(t, b.send("create_widget", "name", "Shop", "primary_color", "red", "plans", "1\n999"), http.StatusBadRequest, "999")
	w := b.send("create_widget", "name", "Shop", "theme", "dark", "primary_color", "#112233", "plans", "1", "success_url", "https://shop.example/thanks")
	made := w.Header().Get("Location")
	if w.Code != http.StatusSeeOther || !strings.HasPrefix(made, "/storefront/widgets/1") {
		t.Fatalf("%d %s %s", w.Code, made, w.Body)
	}
	has(t, b.get(made).Body.String(), "The order form is made.", "data-preview=\"/storefront/preview/", "/storefront/widget.js", "data-api-key", `value="https://shop.example/thanks"`)
	goes(t, b.send("change_widget", "success_url", "", "layout", "table", "plans", ""), made)
	has(t, s.operate("GET", "widgets/"+strings.TrimPrefix(made, "/storefront/widgets/"), "").Body.String(), `"success_url":""`, `"layout":"table"`, `"theme":"dark"`, `"plans":[]`)
	b.get(made)
	goes(t, b.send("remove_widget"), "/storefront/widgets/")
	if w := b.get(made); w.Code != http.StatusNotFound {
		t.Errorf("the order form is there: %d", w.Code)
	}
}

// The pages of plans and order forms are for operators alone, in both languages.
func TestThePagesOfOffersAreForEverybodyAndOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	pages := []string{
		"plans/", "plans/?is_active=false&search=nothing+like+it", "plans/?page=-1&resource_type=nonsense", "plans/1/", "plans/2/",
		"plans/new/", "plans/new/?resource_type=saas", "widgets/", "widgets/new/", "widgets/1/",
	}
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range pages {
			w := b.get("/storefront/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
		b.get("/storefront/plans/new/")
		b.isForEverybody(t, language, b.send("create_plan").Body.String())
	}
	for _, path := range pages {
		if w := s.browser(t).enter("not" + opMail).get("/storefront/" + path); w.Code != http.StatusForbidden {
			t.Errorf("%s: no operator: %d", path, w.Code)
		}
	}
}
