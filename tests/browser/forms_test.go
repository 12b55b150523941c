//go:build system

package browser_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	kinds "hostpanel/domain/hosting"
	"hostpanel/http/browsertest"
	"hostpanel/http/hosting"
	"hostpanel/paneltest"
)

// required are values of the fields that a form cannot be sent without, by kind and field, or
// by field alone.
var required = map[string]string{
	"domain": "forms.example", "origin": "forms.example", "name": "forms", "data": "192.0.2.7", "local_part": "ana",
	"password": "a good password, really", "username": "forms", "destination": "ana@elsewhere.example", "schedule": "@daily",
	"command": "https://forms.example/cron", "brand_name": "Forms", "url": "https://hooks.example.com/forms", "events": "site.*",
	"email": "forms@example.com", "source": "info", "shell_user.username": "formsh",
	"shell_user.password": "a good password, really", // or a key, which no browser knows
}

// fillRequired types into the fields of a form that have to be filled in, of which the
// arguments have the values, and sends it as a click on its button does. It answers what the
// browser itself finds wrong.
const fillRequired = `(() => {
	const values = %s, form = [...document.forms].find((f) => f.elements.form?.value === "%s");
	if (!form) { return "there is none: " + document.querySelector("main").innerText; }
	for (const el of form.elements) {
		const isOptional = document.querySelector('label[for="' + el.id + '"] .note');
		const isAsked = el.required || el.name === "password" || el.tagName === "TEXTAREA" && !isOptional;
		if (isAsked && el.value === "" && el.name in values) { el.value = values[el.name]; }
	}
	const wrong = [...form.elements].filter((el) => !el.checkValidity())
		.map((el) => el.name + "=" + el.value + ": " + el.validationMessage);
	if (wrong.length === 0) { form.requestSubmit(); }
	return wrong.join("\n");
})()`

// Every form for a new record is sent with what it requires, and nothing else is touched. So
// is every form that changes a record, as it is shown.
func TestEveryFormOfARecordIsSentAsItOpens(t *testing.T) {
	t.Parallel()
	p := browsertest.Open(t)
	s := paneltest.Office(t, func(s *paneltest.Shop) { s.Hosting.NameServers = []string{"ns1.panel.example."} }).Start(t)
	s.Tenant(t, 960, "Forms")
	s.Resident(t, 960, "forms@example.com", "en", false)
	s.Do(t, account.GrantMembership{User: 960, Tenant: 960, Role: account.Admin, At: time.Now()})
	reseller := kinds.SaaSLimits{MaxHostingAccounts: 5, WhiteLabel: true}
	s.Do(t, kinds.Change{Ref: kinds.Ref{Kind: "tenant", ID: 960}, Spec: reseller.Fields().Values()})
	s.Machined(t, 960, 960, uuid.Nil)
	w := walker{p, t}
	p.Go(s.Public + "/login/?next=/panel/")
	p.Until(`focused().id === "sign_in-username"`)
	p.Keys("forms@example.com")
	w.to("#sign_in-password")
	w.enters(paneltest.Password, "/panel/")
	made := 0
	for _, k := range hosting.PageKinds() {
		if k.Verbs&kinds.Create == 0 {
			continue
		}
		made++
		if wrong := sends(p, s.Public+k.Page(0)+"new/", "panel_create", k.Name); wrong != "" {
			t.Errorf("the form for a new %s: %s", k.Label, wrong)
			continue
		}
		if p.Text(`Boolean(document.querySelector("textarea.secret"))`) == "true" {
			p.Go(s.Public + p.Text(`document.querySelector("main a.button.main").getAttribute("href")`))
		}
		record := p.Text("location.pathname")
		if k.Verbs&kinds.Patch == 0 {
			continue
		}
		if wrong := sends(p, s.Public+record+"edit/", "panel_change", k.Name); wrong != "" {
			t.Errorf("the form that changes a %s: %s", k.Label, wrong)
		}
	}
	if made < 10 {
		t.Errorf("%d forms", made)
	}
}

// sends opens a page and sends a form of it. It answers what is wrong; "": the form was carried
// out.
func sends(p *browsertest.Page, page, form, kind string) string {
	values := map[string]string{}
	for name, value := range required {
		if of, own, has := strings.Cut(name, "."); has && of == kind {
			values[own] = value
		} else if _, known := values[name]; !has && !known {
			values[name] = value
		}
	}
	filled, _ := json.Marshal(values) // texts alone
	p.Go(page)
	p.Until("document.readyState === 'complete'")
	if wrong := p.Text(fmt.Sprintf(fillRequired, filled, form)); wrong != "" {
		return wrong
	}
	p.Until(`document.readyState === "complete" && (!/(new|edit)\/$/.test(location.pathname) || document.querySelector(".alert, .secret"))`)
	return p.Text(`[...document.querySelectorAll(".alert")].map((el) => el.innerText).join(" ")`)
}
