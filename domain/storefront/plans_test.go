package storefront_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// sent is a plan as an operator sends it.
func sent(t *testing.T, body string) field.Values {
	t.Helper()
	var p storefront.Plan
	if _, err := p.Fields().DecodeJSON([]byte(body), field.Create); err != nil {
		t.Fatal(err)
	}
	return p.Fields().Values()
}

// offered is the plan that an offer of it amounts to.
func offered(t *testing.T, body string) (storefront.Plan, []storefront.PlanEvent) {
	t.Helper()
	facts, err := storefront.Plans.Decide(storefront.Offer{}, storefront.OfferPlan{Plan: 7, Spec: sent(t, body), At: noon})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	var p storefront.Plan
	if err := p.Fields().Load(facts[0].(storefront.PlanOffered).Spec); err != nil {
		t.Fatal(err)
	}
	return p, facts
}

const (
	basic = `{"name":"Básico","price":"2.99","resource_type":"hosting","quota_sites":5}`
	small = `{"name":"VPS 1","price":"10","resource_type":"vps"}`
)

func TestAPlanGetsTheDefaultsOfItsSort(t *testing.T) {
	p, _ := offered(t, basic)
	shown, _ := json.Marshal(p.Shown())
	want := `{"name":"Básico","slug":"basico","description":"","price":"2.99","setup_fee":"0.00","currency":"EUR",` +
		`"billing_period":"monthly","resource_type":"hosting","quota_sites":5,"quota_databases":1,` +
		`"quota_storage_gb":10,"quota_mailboxes":10,"quota_domains":1,"quota_ftp_users":1}`
	if string(shown) != want {
		t.Errorf("\n got %s\nwant %s", shown, want)
	}
	p, _ = offered(t, small)
	shown, _ = json.Marshal(
		p.Shown().Only(
			"slug", "vps_cpu_cores", "vps_memory_mb", "vps_disk_gb", "vps_bandwidth_tb", "vps_os_options",
			"vps_default_os", "quota_sites",
		),
	)
	want = `{"slug":"vps-1","vps_cpu_cores":1,"vps_memory_mb":1024,"vps_disk_gb":20,"vps_bandwidth_tb":1,` +
		`"vps_os_options":["debian-12"],"vps_default_os":"debian-12"}`
	if string(shown) != want {
		t.Errorf("\n got %s\nwant %s", shown, want)
	}
	p, _ = offered(t, `{"name":"Cloud","price":"50","resource_type":"saas","saas_max_vms":3}`)
	shown, _ = json.Marshal(
		p.Shown().Only("saas_max_vms", "saas_max_hosting_accounts", "saas_max_agents", "saas_whitelabel", "quota_sites"),
	)
	if want = `{"saas_max_vms":3,"saas_max_hosting_accounts":1,"saas_max_agents":1,"saas_whitelabel":false}`; string(shown) != want {
		t.Errorf("\n got %s\nwant %s", shown, want)
	}
}

// What belongs to another sort of plan is not kept.
func TestAPlanHasOnlyTheFieldsOfItsSort(t *testing.T) {
	p, _ := offered(t, `{"name":"VPS","price":"10","resource_type":"vps","quota_sites":5,"saas_whitelabel":true,"package":3}`)
	if p.Quotas.Sites != nil || p.SaaS.WhiteLabel != nil || p.Package != nil || *p.VPS.CPUCores != 1 {
		t.Errorf("%+v", p)
	}
}

func TestTheDefaultSystemIsTheFirstOfTheOptions(t *testing.T) {
	p, _ := offered(t, `{"name":"VPS","price":"10","resource_type":"vps","vps_os_options":["alma-9","debian-12"]}`)
	if *p.VPS.DefaultOS != "alma-9" {
		t.Error(*p.VPS.DefaultOS)
	}
	refused(t, `{"name":"VPS","price":"10","resource_type":"vps","vps_os_options":["alma-9"],"vps_default_os":"bsd"}`,
		`vps_default_os: "bsd" is not a valid choice.`)
}

// M-6, M-7: a plan that no provider can charge is refused.
func TestAPlanHasToBeChargeable(t *testing.T) {
	refused(t, `{"name":"A","price":"10.50","currency":"JPY","resource_type":"saas"}`, "price: No payment provider can charge this price.")
	refused(t, `{"name":"A","price":"10","currency":"DEM","resource_type":"saas"}`, `currency: "DEM" is not a valid choice.`)
	for _, currency := range []string{"RON", "ISK", "TRY", "INR", "ZAR"} {
		offered(t, `{"name":"A","price":"10","currency":"`+currency+`","resource_type":"saas"}`)
	}
	offered(t, `{"name":"A","price":"10.50","currency":"HUF","resource_type":"saas"}`) // by Stripe
	offered(t, `{"name":"A","price":"0","resource_type":"saas"}`)
	offered(t, `{"name":"A","price":"10","currency":"JPY","resource_type":"saas"}`)
	offered(t, `{"name":"A","price":"99","currency":"JPY","billing_period":"yearly","resource_type":"saas"}`) // 950 a year
	refused(
		t, `{"name":"A","price":"62.50","currency":"JPY","billing_period":"yearly","resource_type":"saas"}`,
		"price: No payment provider can charge this price.",
	) // for a month
}

func refused(t *testing.T, body, message string) {
	t.Helper()
	domaintest.Given(t, storefront.Plans, nil).
		When(storefront.OfferPlan{Plan: 7, Spec: sent(t, body), At: noon}).ThenRefused(domain.Invalid, message)
}

func TestAPlanIsOfferedOnce(t *testing.T) {
	_, facts := offered(t, basic)
	domaintest.Given(t, storefront.Plans, facts).When(storefront.OfferPlan{Plan: 7, Spec: sent(t, basic), At: noon}).
		ThenRefused(domain.Conflict, "The plan exists.")
}

// A change is an event of what changed, checked as a whole.
func TestAChangeOfAPlanSaysWhatChanged(t *testing.T) {
	_, facts := offered(t, basic)
	change := func(spec string) *domaintest.Story[storefront.Offer, storefront.PlanCommand, storefront.PlanEvent] {
		return domaintest.Given(t, storefront.Plans, facts).When(storefront.ChangePlan{Plan: 7, Spec: values(spec), At: noon})
	}
	change(`{"price":"3.49","quota_sites":5}`).Then(storefront.PlanChanged{Spec: values(`{"price":"3.49"}`), At: noon})
	change(`{"quota_sites":5}`).Then()
	change(`{}`).Then()
	change(`{"resource_type":"hosting"}`).Then()
	change(`{"resource_type":"vps"}`).ThenRefused(domain.Invalid, "resource_type: This field cannot be changed.")
	change(`{"price":"3.505","currency":"JPY"}`).ThenRefused(domain.Invalid, "price: No payment provider can charge this price.")

	after := storefront.Plans.Replay(append(facts, storefront.PlanChanged{Spec: values(`{"price":"3.49"}`)})...)
	before := storefront.Plans.Replay(facts...)
	if string(after.Spec["price"]) != `"3.49"` || string(before.Spec["price"]) != `"2.99"` || len(after.Spec) != len(before.Spec) {
		t.Errorf("%s after %s", after.Spec["price"], before.Spec["price"])
	}
}

func TestAWithdrawnPlanIsGone(t *testing.T) {
	_, facts := offered(t, basic)
	withdraw, withdrawn := storefront.WithdrawPlan{Plan: 7, At: noon}, storefront.PlanWithdrawn{At: noon}
	domaintest.Given(t, storefront.Plans, facts).When(withdraw).Then(withdrawn)
	domaintest.Given(t, storefront.Plans, append(facts, withdrawn)).When(withdraw).Then()
	domaintest.Given(t, storefront.Plans, append(facts, withdrawn)).When(storefront.ChangePlan{Plan: 7, Spec: values(`{"price":"1"}`)}).
		ThenRefused(domain.NotFound, "No Plan matches the given query.")
	domaintest.Given(t, storefront.Plans, nil).When(withdraw).ThenRefused(domain.NotFound, "No Plan matches the given query.")
}

func values(text string) field.Values {
	v := field.Values{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

// No field of a plan is common to two sorts, or declared twice.
func TestAPlanDeclaresItsFieldsOnce(t *testing.T) {
	count := map[string]int{}
	for _, f := range new(storefront.Plan).Fields() {
		count[f.Name]++
	}
	if most := slices.Max(slices.Collect(maps.Values(count))); most != 1 {
		t.Error(count)
	}
}

// Null is for the fields of other sorts.
func TestNoFieldOfAPlansOwnSortIsNull(t *testing.T) {
	for body, want := range map[string]string{
		`{"resource_type":"vps","vps_cpu_cores":null,"vps_os_options":null,"quota_sites":null}`: "vps_cpu_cores: " +
			"This field may not be null.; vps_os_options: This field may not be null.",
		`{"resource_type":"hosting","quota_sites":null,"vps_os_options":null}`: "quota_sites: This field may not be null.",
		`{"resource_type":"saas","quota_sites":null,"package":null}`:           "",
	} {
		var p storefront.Plan
		brought, err := p.Fields().DecodeJSON([]byte(strings.Replace(body, "{", `{"name":"A","price":1,`, 1)), field.Create)
		if err != nil {
			t.Fatal(err)
		}
		var wrong field.Errors
		p.CheckGiven(brought, &wrong)
		if got := wrong.In(p.Fields()).Error(); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
}

func TestAPlanWithoutALetterIsNamedByItsNumber(t *testing.T) {
	if p, _ := offered(t, `{"name":"日本","price":"1","resource_type":"saas"}`); p.Slug != "plan-7" {
		t.Error(p.Slug)
	}
}

func TestCustomersReadAPlanAndItsButtonInTheirLanguage(t *testing.T) {
	p := storefront.Plan{}
	if _, err := p.Fields().DecodeJSON([]byte(`{"name":"Reseller","name_es":"Revendedor","description":"For many.",
		"price":"9.00","resource_type":"saas"}`), field.Create); err != nil {
		t.Fatal(err)
	}
	for language, want := range map[string]string{
		"es": "Revendedor", "es-MX": "Revendedor", "en": "Reseller", "": "Reseller", "e": "Reseller", "fr": "Reseller",
	} {
		if read := p.In(language); read.Name != want || read.Description != "For many." {
			t.Errorf("in %q: %s, %s", language, read.Name, read.Description)
		}
	}
	w := storefront.Widget{}
	if _, err := w.Fields().DecodeJSON([]byte(`{"name":"Shop","cta_text":"Order","cta_text_es":"Contratar"}`), field.Create); err != nil {
		t.Fatal(err)
	}
	if w.In("es").CTAText != "Contratar" || w.In("en").CTAText != "Order" || w.CTAText != "Order" {
		t.Errorf("the button is %q and %q", w.In("es").CTAText, w.In("en").CTAText)
	}
	var former storefront.Plan // of an event from before
	if err := former.Fields().Load(field.Values{"name": []byte(`"Basic"`)}); err != nil || former.In("es").Name != "Basic" {
		t.Errorf("a plan of before is %q: %v", former.In("es").Name, err)
	}
}
